/**
 * `npm run test:mutants -- src/plant/json.ts adapters/hosts/`: changes files in many small ways, and prints each change
 * that no test detects. Stryker makes the changes; it is fetched when this program runs, because only this command needs it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../support/root.js';
import { type Room, rooms } from './rooms.js';

interface Report {
  readonly files: Record<string, { readonly mutants: readonly { readonly status: string }[] }>;
}

const stryker = '9.6.1';
const { version: vitest } = JSON.parse(readFileSync(join(root, 'node_modules/vitest/package.json'), 'utf8'));
const packages = [
  `@stryker-mutator/core@${stryker}`,
  `@stryker-mutator/vitest-runner@${stryker}`,
  // The runner requires vitest as a peer; the tests run on the project's version.
  `vitest@${vitest}`,
];

const named = process.argv.slice(2);
const files = ['src', 'adapters', 'test/published']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((file) => file.endsWith('.ts') && (!named.length || named.some((name) => file.startsWith(name))));
if (files.length === 0) throw new Error(`no file of src/, adapters/ or test/published/ begins with ${named}`);

const temporary = mkdtempSync(join(tmpdir(), 'plant-store-mutants-'));
try {
  for (const [i, room] of rooms.entries()) {
    const ofRoom = files.filter((file) => rooms.find(({ path }) => file.startsWith(path)) === room);
    if (ofRoom.length > 0) print(mutate(ofRoom, room, join(temporary, `${i}.json`)));
  }
} finally {
  rmSync(temporary, { recursive: true });
}

function mutate(mutated: readonly string[], { tests }: Room, report: string): Report {
  const { status } = spawnSync(
    'npx',
    [
      '--yes',
      ...packages.map((name) => `--package=${name}`),
      ...['stryker', 'run', 'test/programs/mutants/stryker.config.js', `--mutate=${mutated.join()}`],
      `--tempDirName=${join(temporary, 'copy')}`,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      // Stryker finds a test again by its title, and some titles hold the seed.
      env: {
        SCHEDULES: '300',
        SEED: '1',
        ...process.env,
        MUTANTS_TESTS: tests.join(),
        MUTANTS_REPORT: report,
      },
    },
  );
  if (status !== 0) throw new Error(`Stryker failed with ${status}`);
  return JSON.parse(readFileSync(report, 'utf8'));
}

function print(report: Report): void {
  for (const [file, { mutants }] of Object.entries(report.files)) {
    const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage').length;
    console.log(`${file}: ${mutants.length - survivors} of ${mutants.length} mutants are killed`);
  }
}
