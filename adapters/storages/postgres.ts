import { isUnconnected, type PostgresPool } from './_postgres/pool.js';
import { needed, postgresServer } from './_postgres/server.js';
import { dialect } from './_postgres/statements.js';
import type { ColumnValue } from './_shared/rows.js';
import { ServerTable } from './_shared/server-table.js';
import {
  type CheckTrial,
  checkSqlOptions,
  type SqlOptions,
  type SqlStorage,
  sqlStorage,
} from './_shared/sql-storage.js';
import { schemaOfIn, specOf, type TableOptions } from './_shared/table.js';
import { checkHandle } from './_shared/wrong-handle.js';

export type {
  CheckTrial,
  ColumnValue,
  PostgresPool,
  SqlOptions as PostgresOptions,
  SqlStorage as PostgresStorage,
  TableOptions,
};

/**
 * Returns the table of a storage with these options, in SQL, for a migration. Columns of your own are `text`: edit the
 * types.
 *
 * @throws {TypeError} if an option is invalid
 *
 * @example
 * ```ts
 * const sql = schemaOf({ table: 'garden.plants', namespace: { tenant: () => '' } });
 * ```
 */
export const schemaOf = schemaOfIn(dialect);

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf();

/**
 * Stores plants in PostgreSQL or a compatible database through your pool, which it neither configures nor closes.
 * Many instances may share one database. Plants are as durable as its `fsync` and `synchronous_commit` make them.
 * Give the pool an `error` listener: without one, a dropped idle connection crashes the process.
 *
 * Creates of several requests share a statement, which runs in the context of one of them. If the pool takes the tenant of
 * the request from AsyncLocalStorage, name it by `namespace` instead, open a storage per tenant, or set `maxBatch: 1`.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import pg from 'pg';
 *
 * const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...timeouts });
 * pool.on('error', (error) => console.error(describeError(error)));
 * const storage = postgresStorage(pool, { table: 'garden.plants' });
 * await storage.createTable();
 * ```
 */
export function postgresStorage<Caller = unknown>(
  pool: PostgresPool,
  given: SqlOptions<Caller> = {},
): SqlStorage<Caller> {
  const isUsable = typeof pool?.query === 'function' && !isUnconnected(pool);
  const options = checkSqlOptions(given);
  checkHandle(pool, isUsable, needed);
  const spec = specOf(dialect, options);
  const server = postgresServer(pool, spec, options.timeoutMs);
  return sqlStorage(new ServerTable(spec, server, options.timeoutMs), options);
}
