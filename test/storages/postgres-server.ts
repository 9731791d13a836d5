import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { PostgresServer } from '../support/postgres.js';

/** A message of PostgreSQL's protocol, as a server sends it. */
export function messageOf(type: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}

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

/** No test of `ownServer` survives a crash of the machine: its commits need not wait for the disk. */
const inMemory = { fsync: 'off', full_page_writes: 'off' };

/** A PostgreSQL for the tests of a file. */
export function ownServer(settings: Record<string, string> = {}, options: pg.PoolConfig = {}): OwnServer {
  const own = new OwnServer();
  beforeAll(async () => {
    own.server = await PostgresServer.start({ ...inMemory, ...settings });
    own.pool = own.poolOf(options);
  });
  afterAll(async () => {
    await Promise.all(own.pools.map((pool) => pool.ended || pool.end()));
    await own.server.close();
  });
  return own;
}
