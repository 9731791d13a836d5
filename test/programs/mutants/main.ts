/**
 * `npm run test:mutants [-- src/plant/json.ts adapters/hosts/]`: changes the published code in thousands of small ways,
 * prints each change that no test notices, and keeps the counts in results.json and README.md. Stryker makes the changes;
 * it is fetched when this program runs, because only this command needs it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../support/root.js';
import { groups, sourceFiles } from './groups.js';
import { keep, killed, type Result } from './kept.js';

interface Mutant {
  readonly status: string;
  readonly statusReason?: string;
}
interface Report {
  readonly files: Record<string, { readonly mutants: readonly Mutant[] }>;
}

const stryker = '9.6.1';
const { version: vitest } = JSON.parse(readFileSync(join(root, 'node_modules/vitest/package.json'), 'utf8'));
const packages = [
  `@stryker-mutator/core@${stryker}`,
  `@stryker-mutator/vitest-runner@${stryker}`,
  // The runner requires vitest as a peer; the tests run on the project's version.
  `vitest@${vitest}`,
];

const folders = ['src', 'adapters', 'test/published'];
const named = process.argv.slice(2);
const temporary = mkdtempSync(join(tmpdir(), 'plant-store-mutants-'));
const date = new Date().toISOString().slice(0, 10);
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const commit = git('rev-parse', '--short=7', 'HEAD');
const isCommitted = git('status', '--porcelain', '--', ...folders, 'test') === '';
const results: Result[] = [];

groups.forEach((group, index) => {
  const files = sourceFiles()
    .filter((file) => groupOf(file) === group)
    .filter((file) => !named.length || named.some((name) => file.startsWith(name)));
  if (files.length) count(mutate(files, index));
});
rmSync(temporary, { recursive: true, force: true });
if (isCommitted) keep(results);
else console.log('Not kept, because the results are of no commit: src/, adapters/ or test/ has changes.');

function groupOf(file: string) {
  return groups.find(({ files }) => files.some((start) => file.startsWith(start)));
}

function mutate(files: readonly string[], group: number): Report {
  const report = join(temporary, `${group}.json`);
  const { status } = spawnSync(
    'npx',
    [
      '--yes',
      ...packages.map((name) => `--package=${name}`),
      'stryker',
      'run',
      'test/programs/mutants/stryker.config.js',
      `--mutate=${files.join(',')}`,
      `--tempDirName=${join(temporary, 'copy')}`,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        SCHEDULES: '300',
        // Stryker finds a test again by its title, and some titles hold the seed.
        SEED: '1',
        ...process.env,
        MUTANTS_GROUP: `${group}`,
        MUTANTS_REPORT: report,
      },
    },
  );
  if (status) process.exitCode = 1;
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { files: {} };
}

function count({ files }: Report): void {
  for (const [file, { mutants }] of Object.entries(files)) {
    if (mutants.length === 0) continue;
    const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage').length;
    // Most of them hang. On a busy machine a slow test may be among them.
    const timedOut = mutants.filter(
      ({ status, statusReason = '' }) => status === 'Timeout' || /timed out in/.test(statusReason),
    ).length;
    console.log(
      `${file}: ${mutants.length} mutants, ${killed(mutants.length, survivors)} killed, ${timedOut} of them by a timeout`,
    );
    results.push({ file, mutants: mutants.length, survivors, date, commit });
  }
}
