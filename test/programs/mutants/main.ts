/**
 * `npm run test:mutants [-- src/plant/json.ts adapters/hosts/]`: changes what is published in thousands of small ways, and
 * prints each change that no test notices, then a table. Stryker does it, and is fetched when it runs, because only this
 * command needs it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../support/root.js';
import { groups } from './groups.js';

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
  // The runner asks for a vitest of its own; the tests run on the project's.
  `vitest@${vitest}`,
];

const folders = ['src/', 'adapters/', 'test/published/'];
const named = process.argv.slice(2);
const temporary = mkdtempSync(join(tmpdir(), 'plant-store-mutants-'));
const counts: [file: string, mutants: number, survivors: number, late: number][] = [];

groups.forEach((group, index) => {
  const files = folders
    .flatMap(filesIn)
    .filter((file) => groupOf(file) === group)
    .filter((file) => !named.length || named.some((name) => file.startsWith(name)));
  if (files.length) count(mutate(files, index));
});
rmSync(temporary, { recursive: true, force: true });
print();

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

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
    const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
    // Most of them hang. On a busy machine a slow test may be among them.
    const late = mutants.filter(
      ({ status, statusReason = '' }) => status === 'Timeout' || /timed out in/.test(statusReason),
    );
    if (mutants.length) counts.push([file, mutants.length, survivors.length, late.length]);
  }
}

/** A line for each file, and one for each folder. */
function print(): void {
  for (const folder of folders) {
    const lines = counts.filter(([file]) => file.startsWith(folder)).sort(([a], [b]) => a.localeCompare(b));
    const sum = (index: 1 | 2 | 3) => lines.reduce((total, line) => total + line[index], 0);
    if (lines.length > 1) lines.push([folder, sum(1), sum(2), sum(3)]);
    for (const [file, mutants, survivors, late] of lines) {
      const killed = ((100 * (mutants - survivors)) / mutants).toFixed(1);
      console.log(
        `${file.padEnd(40)} ${mutants} mutants, ${killed} % are killed, ${late} of them by time; ${survivors} survive`,
      );
    }
  }
}
