// A network that vanishes without a RST: connections are accepted, and their logins never end.
import pg from 'pg';
import type { PlantStorage } from 'plant-store';
import { postgresStorage } from 'plant-store/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Doorway } from '../support/doorway.js';
import { waitFor } from '../support/wait-for.js';
import { context } from './context.js';
import { ownServer } from './postgres-server.js';

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
  const own = ownServer();
  let hole: Doorway;

  beforeEach(async () => {
    hole = await Doorway.before({ path: own.server.socket });
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
