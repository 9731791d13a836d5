import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { PostgresServer } from '../support/postgres.js';

class OwnServer {
  server!: PostgresServer;
  /** A pool of the superuser, for the whole file. */
  pool!: pg.Pool;
  readonly pools: pg.Pool[] = [];

  /** Another pool, which ends with the file, for example of another role. */
  poolOf({ role = 'postgres', ...options }: pg.PoolConfig & { role?: string } = {}): pg.Pool {
    const connectionString = this.server.url.replace('postgres@', `${encodeURIComponent(role)}@`);
    const pool = new pg.Pool({ connectionString, ...options });
    pool.on('error', () => {});
    this.pools.push(pool);
    return pool;
  }
}

/** A PostgreSQL for the tests of a file. */
export function ownServer(settings: Record<string, string> = {}, options: pg.PoolConfig = {}): OwnServer {
  const own = new OwnServer();
  beforeAll(async () => {
    own.server = await PostgresServer.start(settings);
    own.pool = own.poolOf(options);
  });
  afterAll(async () => {
    await Promise.all(own.pools.map((pool) => pool.ended || pool.end()));
    await own.server.close();
  });
  return own;
}
