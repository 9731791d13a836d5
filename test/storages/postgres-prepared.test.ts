// INSERTs that a connection of `pg` keeps prepared: what an app, a migration or a pooler may do to them in between.
import pg from 'pg';
import { type PostgresStorage, postgresStorage, schema, schemaOf } from 'plant-store/postgres';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { context } from './context.js';
import { ownServer } from './postgres-server.js';

const own = ownServer();

/** A pool of one connection, so that each statement meets what the one before has left. */
let pool: pg.Pool;
let storage: PostgresStorage;
beforeEach(async () => {
  pool = own.poolOf({ max: 1 });
  await pool.query(`DROP TABLE IF EXISTS plants; ${schema}`);
  storage = postgresStorage(pool);
});

const create = (id: number, name = `plant ${id}`) => storage.create({ id: BigInt(id), name }, context);

/** A lone create, and two together: each has a statement of its own. */
const createThree = async (first: number) => [
  await create(first),
  ...(await Promise.all([create(first + 1), create(first + 2)])),
];
const allCreated = ['created', 'created', 'created'];

async function preparedNames(): Promise<string[]> {
  const { rows } = await pool.query("SELECT name FROM pg_prepared_statements WHERE name <> ''");
  return rows.map(({ name }) => name);
}

it('postgresStorage prepares one statement for lone creates and one for batches, however often they run', async () => {
  for (let first = 1; first < 60; first += 3) expect(await createThree(first)).toEqual(allCreated);
  const names = await preparedNames();
  const named = expect.stringMatching(/^plant_store_insert_\w+$/);
  expect(names).toEqual([named, named]);
  expect(new Set(names).size).toBe(2);
  expect((await pool.query('SELECT count(*)::int AS n FROM plants')).rows).toEqual([{ n: 60 }]);
});

it('postgresStorage keeps at most 32 statements a connection, for 40 storages in turn, and all of them stay prepared', async () => {
  const tables = Array.from({ length: 40 }, (_, i) => `tenant ${i}`);
  await pool.query(tables.map((table) => schemaOf({ table })).join(';'));
  const storages = tables.map((table) => postgresStorage(pool, { table }));
  const createInEach = async (id: bigint) => {
    for (const other of storages) expect(await other.create({ id, name: 'Rosa' }, context)).toBe('created');
    return preparedNames();
  };
  const names = await createInEach(1n);
  expect(names).toHaveLength(32);
  expect(await createInEach(2n)).toEqual(names);
});

it('postgresStorage names a statement alike on every connection and in every process: by its text', async () => {
  await createThree(1);
  const names = await preparedNames();
  vi.resetModules();
  const another = await import('plant-store/postgres');
  pool = own.poolOf({ max: 1 });
  storage = another.postgresStorage(pool);
  await createThree(4);
  expect(await preparedNames()).toEqual(names);
});

describe('creates and replays stay right after', () => {
  it.each([
    'DEALLOCATE ALL',
    'DISCARD ALL',
    `DROP TABLE plants; ${schema}`,
    'ALTER TABLE plants ADD COLUMN note text DEFAULT current_user',
    'ALTER TABLE plants ALTER COLUMN id TYPE numeric',
    'CREATE SCHEMA IF NOT EXISTS garden; ALTER TABLE plants SET SCHEMA garden; SET search_path TO garden',
    'TRUNCATE plants',
  ])('%s', async (change) => {
    await createThree(11);
    await createThree(1);
    await pool.query(change);
    expect(await createThree(4)).toEqual(allCreated);
    expect(await createThree(7)).toEqual(allCreated);
    expect(await create(4)).toBe('taken');
    expect(await Promise.all([create(7), create(20)])).toEqual(['taken', 'created']);
    expect(await storage.find(5n, context)).toEqual({ id: 5n, name: 'plant 5', tag: undefined });
    await pool.query('DROP SCHEMA IF EXISTS garden CASCADE');
  });
});

it('postgresStorage runs without names from then on if sessions share a connection without their statements', async () => {
  for (const first of [1, 4]) expect(await createThree(first)).toEqual(allCreated);
  const [name] = await preparedNames();
  (await pool.connect()).release(true);
  await pool.query(`PREPARE "${name}" AS SELECT 'another statement'`);
  expect(await createThree(7)).toEqual(allCreated);
  expect(await createThree(10)).toEqual(allCreated);
  expect((await pool.query('SELECT id::int FROM plants')).rows).toHaveLength(12);
});

it('postgresStorage reports an error that a trigger raises with the code of a missing statement, and stores nothing', async () => {
  await pool.query(`CREATE OR REPLACE FUNCTION deny() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '26000'; END $$;
    CREATE TRIGGER deny BEFORE INSERT ON plants FOR EACH ROW WHEN (NEW.name = 'bad') EXECUTE FUNCTION deny()`);
  await expect(create(1, 'bad')).rejects.toMatchObject({ name: 'RolledBack', cause: { code: '26000' } });
  expect(await create(1)).toBe('created');
});

describe('a pool that puts a comment before each statement, as sqlcommenter does', () => {
  /** Clients that add what `comment` returns, if it returns anything. */
  const commenting = (comment: () => string) => {
    class Commenting extends pg.Client {
      // biome-ignore lint/suspicious/noExplicitAny: it passes on what it is given
      override query(statement: any, ...others: any[]): any {
        const note = comment();
        if (!note) return super.query(statement, ...others);
        if (typeof statement === 'string') return super.query(`${note} ${statement}`, ...others);
        return super.query({ ...statement, text: `${note} ${statement.text}` }, ...others);
      }
    }
    return own.poolOf({ max: 1, Client: Commenting } as pg.PoolConfig);
  };

  it('gets statements without names, and creates every plant', async () => {
    let n = 0;
    pool = commenting(() => `/* trace ${n++} */`);
    storage = postgresStorage(pool);
    for (let first = 1; first < 12; first += 3) expect(await createThree(first)).toEqual(allCreated);
    expect(await create(1, 'another')).toBe('taken');
    expect(await preparedNames()).toEqual([]);
  });

  it('does so too if there was nothing to comment at the look: one create at most is unknown', async () => {
    let n = 0;
    let isTraced = false;
    pool = commenting(() => (isTraced ? `/* trace ${n++} */` : ''));
    storage = postgresStorage(pool);
    expect(await create(1)).toBe('created');
    isTraced = true;
    await create(2).catch((error) => expect(error).not.toHaveProperty('code'));
    for (let id = 3; id < 20; id++) expect(await create(id)).toBe('created');
  });
});
