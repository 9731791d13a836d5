// The databases that an app already has: each program of examples/ in this process, on a real database.
import Database from 'libsql';
import pg from 'pg';
import { acceptTokens, createPlantStore } from 'plant-store';
import { postgresStorage, schema } from 'plant-store/postgres';
import { schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { refuseOfMysql, refuseOfPostgres, refuseOfSqlite } from '../../examples/storages/refuse.js';
import { context } from '../storages/context.js';
import { createPlant, createRequest } from '../support/plants.js';
import { runExample, urlOf } from '../support/program.js';
import { plantOf, withColumns } from '../support/tables.js';
import { waitFor } from '../support/wait-for.js';
import { examplePostgres, itKeepsThePromises, runExamplesHere, type StorageExample } from './recipe.js';

runExamplesHere();

const database = examplePostgres();
const { empty } = database;

/** A pool whose tables are in a schema of their own, which has these. */
async function poolWith(sql: string): Promise<pg.Pool> {
  const name = `own_${schemas++}`;
  const { DATABASE_URL } = process.env;
  const pool = new pg.Pool({ connectionString: DATABASE_URL, options: `-c search_path=${name}` });
  onTestFinished(() => pool.end());
  await pool.query(`CREATE SCHEMA ${name}; ${sql}`);
  return pool;
}
let schemas = 0;

describe('postgres-js', () => {
  let example: StorageExample;
  beforeAll(async () => {
    example = await import('../../examples/storages/postgres-js.js');
  });

  itKeepsThePromises(() => example, empty);
});

it('create-table creates the table if there is none, and then plants', async () => {
  await database.pool.query('DROP TABLE plants');
  const { handle } = await import('../../examples/storages/create-table.js');
  expect(await handle(createRequest('secret'))).toMatchObject({ status: 200 });
});

it('minimal-storage creates a plant, and rejects a taken id and an invalid token', async () => {
  const { handle } = await import('../../examples/storages/minimal-storage.js');
  await empty();
  const create = async (name: string, token = 'secret', id = '9007199254740993') =>
    JSON.parse((await handle(createRequest(token, `{"id":${id},"name":"${name}"}`))).body);
  const tooLong = { error: 40004, message: 'name is longer than 200 characters' };
  expect(await create('x'.repeat(201))).toEqual(tooLong);
  expect(await create('Rosa', 'wrong')).toMatchObject({ error: 40102 });
  expect(await create('Rosa')).toEqual({ name: 'Rosa' });
  expect(await create('Ilex')).toMatchObject({ error: 40003 });
  expect(await create('Ilex', 'secret', '9007199254740992')).toEqual({ name: 'Ilex' });
});

describe('own-errors', () => {
  const codeOf = async (pool: pg.Pool, body: string) => {
    const { ownStorage } = await import('../../examples/storages/own-errors.js');
    const handle = createPlantStore(ownStorage(pool), acceptTokens('secret'), { onError: () => {} });
    const { error, status } = await handle(createRequest('secret', body));
    return error ?? status;
  };

  it('tells refused, rejected, rolled back, busy and unknown apart', async () => {
    const plain =
      'CREATE TABLE plants (id bigint PRIMARY KEY, name text UNIQUE CHECK (length(name) < 9), tag text)';
    const pool = await poolWith(plain);
    expect(await codeOf(pool, '{"id":1,"name":"Rosa"}')).toBe(200);
    expect(await codeOf(pool, '{"id":1,"name":"Ilex"}')).toBe(40003);
    expect(await codeOf(pool, '{"id":2,"name":"Rosa"}')).toBe(40004);
    expect(await codeOf(pool, '{"id":2,"name":"Rosa canina"}')).toBe(50004);
    // Rolled back once, and then stored.
    await pool.query(`CREATE SEQUENCE tries;
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('tries') = 1 THEN RAISE 'conflict' USING ERRCODE = '40001'; END IF; RETURN new; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION fail()`);
    expect(await codeOf(pool, '{"id":3,"name":"Acer"}')).toBe(200);
    await pool.query(`CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_terminate_backend(pg_backend_pid()); RETURN new; END $$`);
    expect(await codeOf(pool, '{"id":4,"name":"Salix"}')).toBe(50001);
    const nobody = new pg.Pool({ host: '127.0.0.1', port: 1 });
    onTestFinished(() => nobody.end());
    expect(await codeOf(nobody, '{"id":5,"name":"Salix"}')).toBe(50301);
  });
});

const stops = ['shutdown-express', 'shutdown-fastify'];
it.each(stops)(
  '%s responds to the create in flight after SIGTERM, and exits with the pool closed',
  async (name) => {
    await empty();
    const program = runExample(name, { DRAIN_MS: '1500' });
    const url = await urlOf(program);
    const statusOf = async (path: string) => (await fetch(url + path)).status;
    expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);
    // A create that waits for a lock, until the drain is over and the server has begun to close.
    const locker = await database.pool.connect();
    await locker.query('BEGIN; LOCK TABLE plants');
    const creating = createPlant(`${url}/api`, '{"id":1,"name":"Rosa"}');
    await waitFor(async () => {
      const { rows } = await locker.query('SELECT count(*)::int FROM pg_locks WHERE NOT granted');
      expect(rows[0].count).toBeGreaterThan(0);
    });
    program.child.kill('SIGTERM');
    while ((await statusOf('/readyz').catch(() => 503)) === 200);
    // So that no client sends a request on a connection that is about to be closed.
    expect((await fetch(`${url}/healthz`)).headers.get('connection')).toBe('close');
    while ((await statusOf('/healthz').catch(() => 503)) === 200);
    await locker.query('COMMIT');
    locker.release();
    expect((await creating).status).toBe(200);
    expect(await program.exit).toBe(0);
    expect(program.output().trim().split('\n')).toHaveLength(1);
  },
);

it('shutdown-express does not listen on a table that it cannot use, and prints the remedy', async () => {
  await database.pool.query('ALTER TABLE plants DROP CONSTRAINT plants_pkey');
  onTestFinished(() => database.pool.query('ALTER TABLE plants ADD PRIMARY KEY (id)').then(() => {}));
  const program = runExample('shutdown-express');
  expect(await program.exit).toBe(1);
  expect(program.output()).toMatch(/it needs a unique index of exactly \("id"\)\. Run: CREATE UNIQUE INDEX/);
  expect(program.output()).not.toContain('port:');
});

describe('outbox', () => {
  let example: typeof import('../../examples/storages/outbox.js');
  beforeAll(async () => {
    example = await import('../../examples/storages/outbox.js');
  });
  const emptyBoth = () => database.pool.query('TRUNCATE plants, outbox');
  const peek = async (id: bigint) => {
    const { rows } = await database.pool.query('SELECT * FROM plants WHERE id = $1', [String(id)]);
    return plantOf(rows[0]);
  };

  itKeepsThePromises(() => example, emptyBoth, { peek });

  it('the app stores one event for each plant that was created, and none for a taken id', async () => {
    await emptyBoth();
    const ids = [1n, 2n, 2n, 2n ** 53n + 1n];
    await Promise.all(ids.map((id) => example.storage.create({ id, name: `plant ${id}` }, context)));
    await example.storage.create({ id: 1n, name: 'another' }, context);
    const { rows } = await database.pool.query('SELECT event FROM outbox ORDER BY seq');
    const published: unknown[] = [];
    await example.relay(async (event) => void published.push(event));
    expect(published).toEqual(rows.map((row) => row.event));
    const event = (id: string) => ({ type: 'plant.created', id, name: `plant ${id}`, tag: null });
    expect(new Set(published)).toEqual(new Set([event('1'), event('2'), event('9007199254740993')]));
    await example.relay(async (event) => void published.push(event));
    expect(published).toHaveLength(3);
  });

  it('the app keeps the event whose publication failed, and those after it', async () => {
    await emptyBoth();
    for (const id of [1n, 2n, 3n]) await example.storage.create({ id, name: 'Rosa' }, context);
    const published: unknown[] = [];
    const publish = async (event: unknown) => {
      if (published.push((event as { id: string }).id) === 2) throw new Error('the broker is away');
    };
    await expect(example.relay(publish)).rejects.toThrow('the broker is away');
    await example.relay(publish);
    expect(published).toEqual(['1', '2', '2', '3']);
  });

  it('the app stores no plant if its event cannot be stored', async () => {
    await emptyBoth();
    await database.pool.query('ALTER TABLE outbox ADD CONSTRAINT full_up CHECK (false) NOT VALID');
    try {
      await expect(example.storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow('full_up');
      expect(await peek(1n)).toBeUndefined();
    } finally {
      await database.pool.query('ALTER TABLE outbox DROP CONSTRAINT full_up');
    }
  });
});

describe('refuse turns the unique name of a table into a 400 with a text of the app', () => {
  const message = 'A plant with this name exists. Choose another name.';

  const open = {
    async PostgreSQL() {
      const pool = await poolWith(withColumns(schema, { name: 'text NOT NULL UNIQUE' }));
      return postgresStorage(pool, { refuse: refuseOfPostgres });
    },
    async SQLite() {
      const sqlite = new Database(':memory:');
      onTestFinished(() => void sqlite.close());
      sqlite.exec(withColumns(sqliteSchema, { name: 'TEXT NOT NULL UNIQUE' }));
      return sqliteStorage(sqlite, { refuse: refuseOfSqlite });
    },
  };
  it.each(Object.entries(open))('on %s', async (_, open) => {
    const storage = await open();
    expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    const refused = storage.create({ id: 2n, name: 'Rosa' }, context);
    await expect(refused).rejects.toMatchObject({ name: 'PlantRefused', message });
    expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('taken');
    expect(await storage.create({ id: 1n, name: 'Ilex' }, context)).toBe('taken');
  });

  it('on MySQL, by the error of mysql2', () => {
    const error = (errno: number) => Object.assign(new Error(), { errno });
    expect(refuseOfMysql(error(1062))).toBe(message);
    expect(refuseOfMysql(error(4025))).toBeUndefined();
  });
});
