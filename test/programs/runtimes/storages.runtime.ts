import { existsSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { storageCases } from '../../published/index.js';
import { describeUnless } from '../../support/obstacle.js';
import { type Program, startProgram } from '../../support/program.js';
import { bundle, nodeVersions, startOn, stop, tool } from './runtimes.js';

/** Each runtime has to pass all of them. */
const promiseCount = storageCases(() => Promise.reject()).length;

const compiled = existsSync(tool('better-sqlite3/build/Release/better_sqlite3.node'));
const obstacle = compiled ? undefined : 'better-sqlite3 can be neither fetched nor compiled here';

const sqlite = 'test/programs/runtimes/cases-sqlite.ts';
const workers = 'test/programs/runtimes';
const drivers: [string, () => Promise<Program>][] = [
  // 22.13 is the first that has it without a flag.
  ...(['22.13', ...nodeVersions] as const).map((version): [string, () => Promise<Program>] => [
    `node:sqlite on Node ${version}`,
    () => startOn(`node${version}`, sqlite, 'node:sqlite', 'DatabaseSync'),
  ]),
  // The last one that counts the rows of triggers, too.
  ['bun:sqlite of Bun 1.4.3', () => startOn('bun1.4.3', sqlite, 'bun:sqlite', 'Database')],
  ['bun:sqlite of the oldest Bun', () => startOn('bun1.2', sqlite, 'bun:sqlite', 'Database')],
  ['bun:sqlite', () => startOn('bun', sqlite, 'bun:sqlite', 'Database')],
  ...[
    ['a Worker on D1', 'd1'],
    ['a Worker with a Durable Object', 'object'],
  ].map(([name, where]): [string, () => Promise<Program>] => [
    name!,
    async () =>
      startOn('node22', `${workers}/cases-workers.ts`, await bundle(`${workers}/sqlite-worker.ts`), where!),
  ]),
];

async function expectToPass(start: () => Promise<Program>): Promise<void> {
  const program = await start();
  onTestFinished(() => stop(program));
  const [printed] = await program.printed(/^\{"cases":.*$/m);
  expect(JSON.parse(printed)).toEqual({ cases: promiseCount, failed: [] });
}

describe('the storage cases pass', () => {
  test.each(drivers)('on %s', (_, start) => expectToPass(start));

  describeUnless(obstacle, 'better-sqlite3', () => {
    test('on this Node', () =>
      expectToPass(async () =>
        startProgram([process.execPath, await bundle(sqlite), 'better-sqlite3', 'default']),
      ));
  });
});
