import type { MysqlConnection, MysqlPool, MysqlStatement } from './_mysql/connection.js';
import { mysqlServer, needed } from './_mysql/server.js';
import { dialect } from './_mysql/statements.js';
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
  MysqlConnection,
  MysqlPool,
  MysqlStatement,
  SqlOptions as MysqlOptions,
  SqlStorage as MysqlStorage,
  TableOptions,
};

/**
 * Returns the table of a storage with these options, in SQL, for a migration. Columns of your own are `VARCHAR(255)`:
 * edit the types.
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
 * Stores plants in MariaDB, MySQL, TiDB or Vitess through your pool, which it neither configures nor closes. The pool's
 * connections must autocommit and use utf8mb4, which are the defaults of server and driver.
 *
 * Creates of several requests share a statement, which runs in the context of one of them. If the pool takes the tenant of
 * the request from AsyncLocalStorage, name it by `namespace` instead, open a storage per tenant, or set `maxBatch: 1`.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import { createPool } from 'mysql2/promise';
 *
 * const pool = createPool({ uri: 'mysql://user:password@localhost/garden', connectTimeout: 5_000 });
 * const storage = mysqlStorage(pool);
 * await storage.createTable();
 * const handle = createPlantStore(storage, acceptTokens('secret'));
 * ```
 */
export function mysqlStorage<Caller = unknown>(
  pool: MysqlPool,
  given: SqlOptions<Caller> = {},
): SqlStorage<Caller> {
  // A callback pool hands its connections to a parameter.
  const isUsable = typeof pool?.getConnection === 'function' && pool.getConnection.length === 0;
  const options = checkSqlOptions(given);
  checkHandle(pool, isUsable, needed);
  const spec = specOf(dialect, options);
  return sqlStorage(new ServerTable(spec, mysqlServer(pool, spec), options.timeoutMs), options);
}
