import type { ColumnValue } from './_shared/rows.js';
import { ServerTable } from './_shared/server-table.js';
import {
  type CheckReport,
  checkSqlOptions,
  type SqlOptions,
  type SqlStorage,
  sqlStorage,
} from './_shared/sql-storage.js';
import { schemaOfIn, specOf, type TableOptions } from './_shared/table.js';
import { checkHandle } from './_shared/wrong-handle.js';
import {
  type AsyncSqlite,
  type AsyncSqliteDatabase,
  clientOf,
  type D1Binding,
  type DurableObjectSqlite,
  type ExpoDatabase,
  type LibsqlClient,
  type OpSqliteDatabase,
  type Sqlite3Database,
  type SqliteOfSqlite3,
  type TursoDatabase,
} from './_sqlite/handles.js';
import { needed, sqliteServer } from './_sqlite/server.js';
import { dialect } from './_sqlite/statements.js';

export type {
  AsyncSqlite,
  AsyncSqliteDatabase,
  CheckReport,
  ColumnValue,
  D1Binding,
  DurableObjectSqlite,
  ExpoDatabase,
  LibsqlClient,
  OpSqliteDatabase,
  Sqlite3Database,
  SqliteOfSqlite3,
  SqlOptions as SqliteAsyncOptions,
  SqlStorage as SqliteAsyncStorage,
  TableOptions,
  TursoDatabase,
};

/**
 * Returns the table of a storage with these options, in SQL, for a migration. Columns of your own are `TEXT`: edit the
 * types.
 *
 * @throws {TypeError} if an option is invalid
 *
 * @example
 * ```ts
 * const sql = schemaOf({ namespace: { tenant: () => '' } });
 * ```
 */
export const schemaOf = schemaOfIn(dialect);

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf();

/**
 * Stores plants in a SQLite that is asked asynchronously, because it is far away or because its driver does not block: Turso and
 * libSQL (`@libsql/client`, `@tursodatabase/serverless`), Cloudflare D1, the SQLite of a Durable Object, `@tursodatabase/database`,
 * `libsql/promise`, `sqlite3`, `sqlite`, `expo-sqlite`, `op-sqlite`. It neither configures nor closes what you pass. The plants of a batch
 * are stored in one transaction, together or not at all. Give it a connection of its own if that is of `libsql/promise`, `sqlite3` or
 * `sqlite`, because there the statements of a connection share its transaction.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import Database from 'libsql/promise';
 *
 * const client = new Database('/var/lib/plants/plants.db', {}); // or createClient({ url }), env.DB, ctx.storage
 * const storage = sqliteAsyncStorage(client);
 * await storage.createTable();
 * ```
 */
export function sqliteAsyncStorage<Caller = unknown>(
  database: AsyncSqlite,
  options: SqlOptions<Caller> = {},
): SqlStorage<Caller> {
  const client = clientOf(database);
  checkSqlOptions(options);
  checkHandle(database, client !== undefined, needed);
  const spec = specOf(dialect, options);
  return sqlStorage(new ServerTable(spec, sqliteServer(database, client!, spec), options.timeoutMs), options);
}
