// A table or a login that every create fails on: one line of the log says what to do.
import Database from 'libsql';
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { postgresStorage, schema } from 'plant-store/postgres';
import { schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRequest } from '../support/plants.js';
import { ownServer } from './postgres-server.js';

const own = ownServer();
let lines: string[] = [];
let hour = 0;
beforeEach(() => {
  // An hour apart, so that no test is in the same minute as another.
  vi.useFakeTimers({ toFake: ['Date'], now: ++hour * 3_600_000 });
  vi.spyOn(console, 'error').mockImplementation((text) => void lines.push(...String(text).split('\n')));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  lines = [];
});

/** Creates plants through the handler, at once, and returns the codes. */
async function post(storage: PlantStorage, count: number, options = {}) {
  const handle = createPlantStore(storage, acceptTokens('secret'), options);
  const bodies = Array.from({ length: count }, (_, id) => JSON.stringify({ id, name: `plant ${id}` }));
  const responses = await Promise.all(bodies.map((body) => handle(createRequest('secret', body))));
  return new Set(responses.map(({ status, error }) => error ?? status));
}

type Open = (options?: { readonly refuse: () => string }) => ReturnType<typeof sqliteStorage>;

const sqlite = new Database(':memory:');

describe.each<[string, string, Open, (sql: string) => unknown]>([
  ['postgresStorage', schema, (options) => postgresStorage(own.pool, options), (sql) => own.pool.query(sql)],
  ['sqliteStorage', sqliteSchema, (options) => sqliteStorage(sqlite, options), (sql) => sqlite.exec(sql)],
])('%s', (_, schemaSql, open, run) => {
  beforeEach(async () => void (await run('DROP TABLE IF EXISTS plants')));

  it('tells of a missing table in one line a minute, with the remedy once, until it is there', async () => {
    const storage = open();
    for (let round = 0; round < 3; round++) expect(await post(storage, 50)).toEqual(new Set([50004]));
    expect(lines).toEqual([expect.stringContaining('plant-store: 50004 storage_rejected, POST /plants: ')]);
    expect(lines[0]!.split('storage.createTable()')).toHaveLength(2);
    expect(lines[0]).not.toMatch(/rolled back/);
    vi.setSystemTime(Date.now() + 60_000);
    await post(storage, 50);
    expect(lines).toHaveLength(2);
    await run(schemaSql);
    expect(await post(storage, 50)).toEqual(new Set([200]));
  });

  it('tells of it to a replay, too, which finds no table', async () => {
    const { find } = open();
    expect(await post({ create: async () => 'taken', find }, 1, { acceptReplays: true })).toEqual(
      new Set([50004]),
    );
    expect(lines).toEqual([expect.stringContaining('createTable()')]);
  });

  it('tells of a column that was dropped with what adds it, once, and asks refuse of no plant', async () => {
    await run(schemaSql);
    const refuse = vi.fn(() => 'no');
    const storage = open({ refuse });
    expect(await post(storage, 64)).toEqual(new Set([200]));
    await run('ALTER TABLE plants DROP COLUMN tag');
    expect(await post(storage, 64)).toEqual(new Set([50004]));
    expect(lines).toEqual([
      expect.stringMatching(/it has no column tag\. Run: ALTER TABLE "plants" ADD tag text$/i),
    ]);
    expect(refuse).not.toHaveBeenCalled();
    await run(lines[0]!.split('Run: ')[1]!);
    expect(await post(storage, 65)).toEqual(new Set([40003, 200]));
  });
});
