import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { PostgresServer } from '../support/postgres.js';

/** A PostgreSQL for the tests of a file. */
export interface OwnServer {
  readonly server: PostgresServer;
  /** A pool of the superuser, for the whole file. */
  readonly pool: pg.Pool;
  /** Another pool, which ends with the file, for example of another role. */
  poolOf(options?: pg.PoolConfig & { role?: string }): pg.Pool;
}

export function ownServer(settings: Record<string, string> = {}, options: pg.PoolConfig = {}): OwnServer {
  const pools: pg.Pool[] = [];
  const own = {
    poolOf({ role = 'postgres', ...options } = {}) {
      const connectionString = own.server.url.replace('postgres@', `${encodeURIComponent(role)}@`);
      const pool = new pg.Pool({ connectionString, ...options });
      pool.on('error', () => {});
      pools.push(pool);
      return pool;
    },
  } as { server: PostgresServer; pool: pg.Pool; poolOf: OwnServer['poolOf'] };
  beforeAll(async () => {
    own.server = await PostgresServer.start(settings);
    own.pool = own.poolOf(options);
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.ended || pool.end()));
    await own.server.close();
  });
  return own;
}
