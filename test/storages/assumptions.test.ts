// What the storages take from drivers and servers beyond their documentation. Each assumption is named, with the line that rests on it,
// and is tested on the real thing; and each test fails on a stand-in that breaks it. Those of mysql2 that need a server are in
// test/programs/cluster/mariadb.cluster.ts, those of PgBouncer in pgbouncer.cluster.ts. How D1 and Durable Objects end the message of an
// error is a case of test/programs/runtimes/cases-workers.ts.
import { type EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import AsyncDatabase from 'libsql/promise';
import { createPool as createCallbackPool } from 'mysql2';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { expect, it } from 'vitest';
import { root } from '../support/root.js';
import { ownServer } from './postgres-server.js';

const own = ownServer();

interface Assumption {
  /** What is assumed, as a sentence. */
  readonly name: string;
  /** The file of `adapters/storages` that rests on it, and a part of the line. */
  readonly line: readonly [file: string, part: string];
  /** What the real driver or server shows. */
  readonly real: () => unknown;
  /** What one shows that breaks it. */
  readonly broken: unknown;
  readonly holds: (shown: never) => boolean;
}

async function check({ name, holds }: Assumption, shown: unknown): Promise<void> {
  if (!holds((await shown) as never)) throw new Error(`no longer true: ${name}`);
}

const postgresErrors = '_postgres/errors.ts';

const assumptions: readonly Assumption[] = [
  {
    name: 'a pool of pg has `ending` from the call of end() on',
    line: ['_postgres/pool.ts', 'if (pool.ending)'],
    async real() {
      const pool = new pg.Pool();
      const before = pool.ending;
      const ended = pool.end();
      const { ending } = pool;
      await ended;
      return [before, ending, pool.ending];
    },
    broken: [undefined, undefined, undefined],
    holds: (shown: unknown[]) => String(shown) === 'false,true,true',
  },
  {
    name: 'a pool of pg has a number totalCount, and a client none',
    line: ['_postgres/pool.ts', 'totalCount !== undefined'],
    real: () => [typeof new pg.Pool().totalCount, 'totalCount' in new pg.Client()],
    broken: ['undefined', true],
    holds: (shown: unknown[]) => String(shown) === 'number,false',
  },
  {
    name: 'getTransactionStatus of a client of pg in JavaScript, which has no `native`, is null before the login alone',
    line: ['_postgres/pool.ts', 'getTransactionStatus!() === null'],
    async real() {
      const client = new pg.Client(own.server.url);
      const before = client.getTransactionStatus();
      await client.connect();
      const after = client.getTransactionStatus();
      await client.end();
      return [before, after, 'native' in client];
    },
    broken: ['I', 'I', false],
    holds: ([before, after, isNative]: unknown[]) => before === null && after === 'I' && !isNative,
  },
  {
    name: 'the `connection` of a client of pg emits readyForQuery with the status of its transaction',
    line: ['_postgres/pool.ts', "connection.on('readyForQuery'"],
    async real() {
      const client = new pg.Client(own.server.url);
      await client.connect();
      const statuses: unknown[] = [];
      const { connection } = client as unknown as { connection: EventEmitter };
      connection.on('readyForQuery', ({ status }) => statuses.push(status));
      for (const sql of ['SELECT 1', 'BEGIN', 'SELECT 1 / 0', 'ROLLBACK'])
        await client.query(sql).catch(() => {});
      await client.end();
      return statuses;
    },
    broken: [undefined, undefined, undefined, undefined],
    holds: (statuses: unknown[]) => statuses.join('') === 'ITEI',
  },
  {
    name: 'an error that a function raises has a `where`, and one of the statement has none',
    line: [postgresErrors, 'Boolean(where)'],
    async real() {
      const whereOf = (sql: string) => own.pool.query(sql).catch(({ where }) => typeof where);
      return [await whereOf("DO $$ BEGIN RAISE 'no'; END $$"), await whereOf('SELECT * FROM nowhere')];
    },
    broken: ['undefined', 'undefined'],
    holds: (shown: unknown[]) => String(shown) === 'string,undefined',
  },
  {
    name: 'getConnection of mysql2 has a parameter in a callback pool, and none in a pool of promises',
    line: ['mysql.ts', 'getConnection.length === 0'],
    real: () => [createCallbackPool({}).getConnection.length, createPool({}).getConnection.length],
    broken: [0, 0],
    holds: ([callback, promise]: number[]) => callback! > 0 && promise === 0,
  },
  {
    name: '`run` of libsql counts as `changes` the row that an INSERT has inserted, and none if its id is taken',
    line: ['_sqlite/connection.ts', "typeof changes !== 'number'"],
    real: () => {
      const database = new Database(':memory:');
      database.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY)');
      const insert = database.prepare('INSERT INTO plants VALUES (?) ON CONFLICT (id) DO NOTHING');
      return [1, 1, 2].map((id) => insert.run(id).changes);
    },
    broken: [1, 1, 1],
    holds: (changes: number[]) => changes.join() === '1,0,1',
  },
  {
    name: 'a statement of libsql returns rows, and libsql/promise prepares it later',
    line: ['_sqlite/handles.ts', "database.prepare('SELECT 1')"],
    real() {
      const [rows, later] = [new Database(':memory:'), new AsyncDatabase(':memory:', {})].map((database) =>
        database.prepare('SELECT 1'),
      );
      return [Array.isArray((rows as Database.Statement).all()), later instanceof Promise];
    },
    broken: [true, false],
    holds: (shown: unknown[]) => String(shown) === 'true,true',
  },
  {
    name: 'libsql/promise has `transaction` and `sync`',
    line: ['_sqlite/handles.ts', "'sync' in database"],
    real() {
      const database = new AsyncDatabase(':memory:', {});
      return ['transaction' in database, 'sync' in database];
    },
    broken: [true, false],
    holds: (shown: unknown[]) => String(shown) === 'true,true',
  },
  {
    name: '`open` of libsql is false after close()',
    line: ['_sqlite/client.ts', 'open === false'],
    real() {
      const database = new Database(':memory:');
      const before = database.open;
      database.close();
      return [before, database.open];
    },
    broken: [undefined, undefined],
    holds: (shown: unknown[]) => String(shown) === 'true,false',
  },
];

it.each(assumptions)('it is true that $name', async (assumption) => {
  await check(assumption, assumption.real());
});

it.each(assumptions)('a stand-in that breaks it is found: $name', async (assumption) => {
  const { name, broken } = assumption;
  await expect(check(assumption, broken)).rejects.toThrow(`no longer true: ${name}`);
});

it.each(assumptions)('the line is there that rests on: $name', ({ line: [file, part] }) => {
  expect(readFileSync(join(root, 'adapters/storages', file), 'utf8')).toContain(part);
});

it('a cancelled wait for a standby is a notice of the routine SyncRepWaitForLSN', async () => {
  // On a server that waits for a standby, which the others here do not.
  const { PostgresServer } = await import('../support/postgres.js');
  const server = await PostgresServer.start({ synchronous_standby_names: 'nobody' });
  const [writer, other] = [new pg.Client(server.url), new pg.Client(server.url)];
  await Promise.all([writer.connect(), other.connect()]);
  const noticed = once(writer, 'notice');
  const writing = writer.query('CREATE TABLE herbs ()');
  for (let isWaiting = false; !isWaiting; ) {
    const { rows } = await other.query(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    isWaiting = rows.length > 0;
  }
  const [notice] = await noticed;
  await writing;
  expect(notice).toMatchObject({
    routine: 'SyncRepWaitForLSN',
    message: expect.stringContaining('synchronous replication'),
  });
  await Promise.all([writer.end(), other.end()]);
  await server.close();
});
