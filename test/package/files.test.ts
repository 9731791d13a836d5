// How many files a reader opens to follow one create, and one error, from end to end: those of which a function is called.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { postgresStorage } from 'plant-store/postgres';
import { expect, it, onTestFinished, vi } from 'vitest';
import { filesOfTable } from '../support/pages.js';
import { createPlant } from '../support/plants.js';
import { PostgresServer } from '../support/postgres.js';
import { root } from '../support/root.js';
import { listen } from '../support/sockets.js';

/** The files of the library of which a function is called in the meantime. */
async function filesOf(run: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await run();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
    .map(({ url }) => relative(root, url.startsWith('file:') ? fileURLToPath(url) : url))
    .filter((file) => /^(src|adapters)\//.test(file) && !isDoor(file))
    .sort();
}

const [, section = ''] = readFileSync(join(root, '.github/CONTRIBUTING.md'), 'utf8').split(
  '## One create, start to end',
);
const [ofCreate = '', ofError = ''] = section.split('\n## ')[0]!.split('If the driver throws');

/** What only passes on: the doors of `src`. */
const isDoor = (file: string) => /^src\/(index|for-hosts|for-storages)\.ts$/.test(file);

it('CONTRIBUTING names the files that one create passes, and one error of the driver', async () => {
  const database = await PostgresServer.start();
  onTestFinished(() => database.close());
  const timeouts = { statement_timeout: 5_000, connectionTimeoutMillis: 5_000 };
  const pool = new pg.Pool({ connectionString: database.url, ...timeouts });
  onTestFinished(() => pool.end());
  const storage = postgresStorage(pool);
  await storage.createTable();
  const handle = createPlantStore(storage, acceptTokens('secret'));
  const { url, close } = await listen(createServer(toNode(handle)));
  onTestFinished(close);
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const create = async (id: number) => (await createPlant(url, `{"id":${id},"name":"Rosa"}`)).status;
  // The first one also looks at the table.
  expect(await create(1)).toBe(200);
  const passed = await filesOf(async () => expect(await create(2)).toBe(200));
  expect(passed).toEqual(filesOfTable(ofCreate).sort());
  // For what is added here, something else can go.
  expect(passed.length).toBeLessThanOrEqual(40);
  await pool.query('ALTER TABLE plants ADD CHECK (id < 100)');
  const passedByError = await filesOf(async () => expect(await create(200)).toBe(500));
  const more = passedByError.filter((file) => !passed.includes(file));
  expect(more).toEqual(filesOfTable(ofError).sort());
  expect(more.length).toBeLessThanOrEqual(20);
});
