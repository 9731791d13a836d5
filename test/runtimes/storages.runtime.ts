import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { type Program, startProgram } from '../support/program.js';
import { bundle, startOn, stop, tool } from './runtimes.js';

const compiled = existsSync(tool('better-sqlite3/build/Release/better_sqlite3.node'));
const required = Boolean(process.env.CI);
if (!compiled && !required) console.log('skipped: better-sqlite3 can be neither fetched nor compiled here');

const drivers: [string, () => Promise<Program>][] = [
  ['node:sqlite on Node 22', () => startOn('node22', 'test/runtimes/cases-node-sqlite.ts')],
  ['node:sqlite on Node 24', () => startOn('node24', 'test/runtimes/cases-node-sqlite.ts')],
  ['node:sqlite on Node 26', () => startOn('node26', 'test/runtimes/cases-node-sqlite.ts')],
  ['bun:sqlite', () => startOn('bun', 'test/runtimes/cases-bun-sqlite.ts')],
  [
    'a Worker on D1',
    async () => startOn('node22', 'test/runtimes/cases-d1.ts', await bundle('examples/worker-d1.ts')),
  ],
];
if (compiled || required) {
  drivers.push([
    'better-sqlite3',
    async () => startProgram([process.execPath, await bundle('test/runtimes/cases-better-sqlite3.ts')]),
  ]);
}

test.each(drivers)('the storage cases pass on %s', async (_, start) => {
  const program = await start();
  onTestFinished(() => stop(program));
  const [printed] = await program.printed(/^\{"cases":.*$/m);
  expect(JSON.parse(printed)).toEqual({ cases: 12, failed: [] });
});
