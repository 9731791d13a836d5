// A network that vanishes without a RST: connections are accepted, and their logins never end.
import { createServer } from 'node:net';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import type { PlantStorage } from 'plant-store';
import { type MysqlConnection, mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlackHole } from '../support/black-hole.js';
import { deferred } from '../support/deferred.js';
import { PostgresServer } from '../support/postgres.js';
import { waitFor } from '../support/wait-for.js';

const context = {
  caller: 'anyone',
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
};
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Creates plants with new ids, one after the other, until it is stopped. */
function client({ create }: Pick<PlantStorage, 'create'>, onCreated = () => {}) {
  let isStopped = false;
  const run = async () => {
    for (let id = BigInt(Math.trunc(performance.now() * 1000)); !isStopped; id++) {
      const outcome = await create({ id, name: 'Rosa' }, context).catch(() => 'failed');
      if (outcome === 'created') onCreated();
      else await pause(10);
    }
  };
  const running = run();
  return {
    stop() {
      isStopped = true;
      return running;
    },
  };
}

describe('a PostgreSQL server whose network vanishes for some seconds', () => {
  let server: PostgresServer;
  let hole: BlackHole;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    hole = await BlackHole.before({ path: server.socket });
  });
  afterEach(() => hole.close());

  it.each<[string, pg.PoolConfig]>([
    ['a pool with no settings', {}],
    ['the documented pool', { query_timeout: 10_000, connectionTimeoutMillis: 5_000 }],
    ['a pool of two', { max: 2 }],
  ])(
    'has at most 4 pending connects from %s, and creates plants soon after it: a hung login ends after 5 s',
    async (_, options) => {
      const connectionString = `postgres://postgres@127.0.0.1:${hole.port}/postgres`;
      const pool = new pg.Pool({ connectionString, ...options });
      pool.on('error', () => {});
      const pending = countPending(pool);
      const storage = postgresStorage(pool, { timeoutMs: 1_000 });
      await storage.createTable();
      let lastCreated = 0;
      const clients = Array.from({ length: 4 }, () =>
        client(storage, () => {
          lastCreated = performance.now();
        }),
      );
      await waitFor(() => expect(lastCreated).toBeGreaterThan(0));
      hole.vanish();
      await pause(4_000);
      const healed = performance.now();
      expect(lastCreated).toBeLessThan(healed - 3_000);
      hole.heal();
      await waitFor(() => expect(lastCreated).toBeGreaterThan(healed));
      expect(pending.most).toBeLessThanOrEqual(4);
      await Promise.all(clients.map((one) => one.stop()));
      hole.close();
      await pool.end();
    },
  );

  function countPending(pool: pg.Pool) {
    const count = { most: 0 };
    let pending = 0;
    const connect = pool.connect.bind(pool) as (done: (...result: unknown[]) => void) => void;
    Object.assign(pool, {
      connect(done: (...result: unknown[]) => void) {
        count.most = Math.max(count.most, ++pending);
        connect((...result) => {
          pending--;
          done(...result);
        });
      },
    });
    return count;
  }
});

describe('a pool whose connects never settle and cannot be aborted', () => {
  it('has at most 4 of them, by creates and by finds, however many calls there are', async () => {
    const getConnection = vi.fn(() => new Promise<MysqlConnection>(() => {}));
    const storage = mysqlStorage({ getConnection }, { timeoutMs: 300 });
    const creating = client(storage);
    for (let round = 0; round < 8; round++) {
      const finds = Array.from({ length: 20 }, (_, id) => storage.find(BigInt(id), context));
      await Promise.allSettled(finds);
    }
    await creating.stop();
    expect(getConnection.mock.calls.length).toBeLessThanOrEqual(4);
  });

  it('serves the next call with a connect that outlasts its own, because a login may be slow', async () => {
    const late = deferred<MysqlConnection>();
    const getConnection = vi.fn(() => late.promise);
    const storage = mysqlStorage({ getConnection }, { timeoutMs: 100 });
    await expect(storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'StorageBusy',
    });
    const creating = storage.create({ id: 2n, name: 'Rosa' }, context);
    // From the end of this turn on it waits for the connection.
    await pause(10);
    const execute = vi.fn(
      async (statement: unknown) => [typeof statement === 'string' ? { serverStatus: 2 } : [], []] as const,
    );
    late.resolve({ execute, unprepare() {}, release() {}, destroy() {} });
    expect(await creating).toBe('created');
  });
});

it("mysqlStorage has at most 4 hung logins, which end by mysql2's connectTimeout", async () => {
  let accepted = 0;
  // MySQL's server speaks first; this one says nothing.
  const silent = createServer((socket) => {
    accepted++;
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await waitFor(() => expect(silent.address()).not.toBeNull());
  const { port } = silent.address() as { port: number };
  const pool = createPool({ host: '127.0.0.1', port, user: 'plants', connectTimeout: 1_500 });
  const failed = vi.fn();
  const getConnection = pool.getConnection.bind(pool);
  const pending = { now: 0, most: 0 };
  pool.getConnection = () => {
    pending.most = Math.max(pending.most, ++pending.now);
    return getConnection().finally(() => pending.now--);
  };
  const creating = client(mysqlStorage(pool, { timeoutMs: 1_000 }), failed);
  await waitFor(() => expect(accepted).toBeGreaterThan(6));
  await creating.stop();
  expect(pending.most).toBeLessThanOrEqual(4);
  expect(failed).not.toHaveBeenCalled();
  // The last ones end by their own timeout.
  await waitFor(() => expect(pending.now).toBe(0));
  await pool.end();
  silent.close();
});
