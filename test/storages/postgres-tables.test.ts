// Tables that plant-store did not create: each stores a plant exactly, or the create fails.
import pg from 'pg';
import { type PostgresStorage, postgresStorage } from 'plant-store/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresServer } from '../support/postgres.js';

const context = {
  caller: 'anyone',
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
};

let server: PostgresServer;
function poolOf(options: pg.PoolConfig = {}): pg.Pool {
  const made = new pg.Pool({ connectionString: server.url, ...options });
  made.on('error', () => {});
  return made;
}

let pool: pg.Pool;
beforeAll(async () => {
  server = await PostgresServer.start();
  pool = poolOf();
});
afterAll(async () => {
  await pool.end();
  await server.close();
});

let tables = 0;
let table: string;
beforeEach(() => {
  table = `plants ${tables++}`;
});

async function open(columns: string): Promise<PostgresStorage> {
  await pool.query(`CREATE TABLE "${table}" (${columns})`);
  return postgresStorage(pool, { table });
}

describe('a table that changes plants', () => {
  it('is read again after an error, so that a migration needs no restart', async () => {
    const { create } = await open('id real PRIMARY KEY, name text NOT NULL, tag text');
    await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow(/real/);
    await pool.query(`ALTER TABLE "${table}" ALTER id TYPE bigint`);
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  });
});

it('createTable of a role that may only SELECT and INSERT finds the table that is there', async () => {
  await open('id bigint PRIMARY KEY, name text NOT NULL, tag text');
  await pool.query(`CREATE ROLE "${table}" LOGIN; GRANT SELECT, INSERT ON "${table}" TO "${table}"`);
  const gardeners = poolOf({
    connectionString: server.url.replace('postgres@', `${encodeURIComponent(table)}@`),
  });
  const storage = postgresStorage(gardeners, { table });
  await storage.createTable();
  expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('taken');
  expect(await storage.find(1n, context)).toMatchObject({ name: 'Rosa' });
  await gardeners.end();
});

describe('a connection of the pool that comes with a transaction of the app', () => {
  const open1 = () => open('id bigint PRIMARY KEY, name text NOT NULL, tag text');
  const rows = async () =>
    (await pool.query(`SELECT id::int FROM "${table}" ORDER BY id`)).rows.map(({ id }) => id);

  const mistakes: Record<string, (client: pg.PoolClient) => unknown> = {
    'is open': (client) => client.query('BEGIN'),
    'has failed': (client) => client.query('BEGIN; SELECT 1 / 0').catch(() => {}),
    'has been begun but not awaited': (client) => void client.query('BEGIN'),
  };
  describe.each([true, false])('and a driver that shows the state of its transaction: %s', (isShown) => {
    it.each(Object.entries(mistakes))(
      'that %s is discarded: one create fails and names the mistake, the others are stored',
      async (_, spoil) => {
        const storage = await open1();
        await storage.create({ id: 0n, name: 'Rosa' }, context);
        const narrow = poolOf({ max: 1 });
        const { create } = postgresStorage(narrow, { table });
        const client = await narrow.connect();
        // As in versions of `pg` from before 2025.
        if (!isShown) Object.assign(client, { getTransactionStatus: undefined });
        await spoil(client);
        client.release();
        const outcomes = await Promise.allSettled(
          [1n, 2n, 3n].map((id) => create({ id, name: 'Rosa' }, context)),
        );
        const failed = outcomes.filter(({ status }) => status === 'rejected');
        expect(failed).toMatchObject([{ reason: { name: 'StorageBusy', message: /open transaction/ } }]);
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
        await narrow.end();
        const stored = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i + 1] : []));
        expect(await rows()).toEqual([0, ...stored]);
      },
    );
  });

  it('cannot be one that the app gave instead of a pool: create fails until the app ends the transaction', async () => {
    await open1();
    const client = new pg.Client(server.url);
    await client.connect();
    const { create } = postgresStorage(client, { table });
    await client.query('BEGIN');
    const creates = [1n, 2n].map((id) => create({ id, name: 'Rosa' }, context));
    for (const one of creates) await expect(one).rejects.toThrow(/open transaction/);
    await client.query('COMMIT');
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    await client.end();
    expect(await rows()).toEqual([1]);
  });
});

it('a PoolClient that the app gave is released by the app alone', async () => {
  await open('id bigint PRIMARY KEY, name text NOT NULL CHECK (length(name) < 9), tag text');
  const narrow = poolOf({ max: 1 });
  const client = await narrow.connect();
  const { create, find } = postgresStorage(client, { table });
  expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  await expect(create({ id: 2n, name: 'too long a name' }, context)).rejects.toMatchObject({
    cause: { code: '23514' },
  });
  expect(await find(1n, context)).toMatchObject({ name: 'Rosa' });
  expect(narrow.idleCount).toBe(0);
  expect(await create({ id: 3n, name: 'Rosa' }, context)).toBe('created');
  client.release();
  expect(narrow.idleCount).toBe(1);
  await narrow.end();
});

it('a plant whose statement takes longer than statement_timeout fails alone: the other 19 are stored', async () => {
  await open('id bigint PRIMARY KEY, name text NOT NULL, tag text');
  await pool.query(`CREATE FUNCTION "slow ${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF new.name = 'slow' THEN PERFORM pg_sleep(60); END IF; RETURN new; END $$;
    CREATE TRIGGER slow BEFORE INSERT ON "${table}" FOR EACH ROW EXECUTE FUNCTION "slow ${table}"()`);
  const hurried = poolOf({ options: '-c statement_timeout=100' });
  const { create } = postgresStorage(hurried, { table });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => create({ id: BigInt(i), name: i === 7 ? 'slow' : 'Rosa' }, context)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(19);
  expect(outcomes[7]).toMatchObject({ reason: { cause: { code: '57014' } } });
  await hurried.end();
});

describe('a row that another transaction has locked', () => {
  /** Creates plants together with one whose id is locked; returns how long the statements waited for that lock. */
  async function waits(options = ''): Promise<number[]> {
    await open('id bigint PRIMARY KEY, name text NOT NULL, tag text');
    const holder = new pg.Client(server.url);
    await holder.connect();
    await holder.query(`BEGIN; INSERT INTO "${table}" VALUES (7, 'held')`);
    const watched = poolOf({ options });
    const times: number[] = [];
    watched.on('connect', (client) => {
      const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>;
      const timed = async (...parameters: unknown[]) => {
        const start = performance.now();
        return query(...parameters)?.catch((error) => {
          if (error.code === '55P03') times.push(performance.now() - start);
          throw error;
        });
      };
      Object.assign(client, { query: timed });
    });
    const { create } = postgresStorage(watched, { table });
    const locked = create({ id: 7n, name: 'Rosa' }, context);
    const others = Array.from({ length: 20 }, (_, i) =>
      create({ id: BigInt(100 + i), name: 'Rosa' }, context),
    );
    expect(await Promise.all(others)).toEqual(Array(20).fill('created'));
    await holder.query('ROLLBACK');
    expect(await locked).toBe('created');
    const { rows } = await watched.query('SHOW lock_timeout');
    expect(rows).toEqual([{ lock_timeout: options.split('=')[1] ?? '0' }]);
    await Promise.all([holder.end(), watched.end()]);
    return times;
  }

  it.each(['', '-c lock_timeout=1s', '-c lock_timeout=1min'])(
    'blocks a batch for at most 500 ms at a time, and its create alone waits on (%j)',
    async (options) => {
      const times = await waits(options);
      expect(times.length).toBeGreaterThan(0);
      for (const time of times) expect(time).toBeGreaterThan(200);
      expect(Math.min(...times)).toBeLessThan(500);
    },
  );

  it("blocks a batch no longer than the app's own lock_timeout, if that is shorter", async () => {
    const times = await waits('-c lock_timeout=50ms');
    expect(Math.min(...times)).toBeLessThan(200);
  });
});
