import type { ColumnValue } from './_shared/rows.js';
import {
  type CheckReport,
  checkSqlOptions,
  type SqlOptions,
  type SqlStorage,
  sqlStorage,
} from './_shared/sql-storage.js';
import { schemaOfIn, specOf, type TableOptions } from './_shared/table.js';
import { checkHandle } from './_shared/wrong-handle.js';
import type { SqliteDatabase } from './_sqlite/connection.js';
import { dialect } from './_sqlite/statements.js';
import { needed, SqliteTable } from './_sqlite/table.js';

export type {
  CheckReport,
  ColumnValue,
  SqliteDatabase,
  SqlOptions as SqliteOptions,
  SqlStorage as SqliteStorage,
  TableOptions,
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
 * Stores plants in SQLite through your connection, which it neither configures nor closes. The connection's settings
 * decide what survives a power cut: `journal_mode=WAL` with `synchronous=FULL` does, `NORMAL` does not. Set
 * `busy_timeout` to 100 ms or less, because the driver blocks the event loop while it waits, and this storage retries
 * anyway. While the app has a transaction open on the connection, `create` fails, because the app's ROLLBACK would remove
 * the plant. All callers share one table. The database must be in UTF-8, the default.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import Database from 'libsql';
 *
 * const database = new Database('/var/lib/plants/plants.db');
 * database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=100');
 * const storage = sqliteStorage(database);
 * await storage.createTable();
 * ```
 */
export function sqliteStorage<Caller = unknown>(
  database: SqliteDatabase,
  options: SqlOptions<Caller> = {},
): SqlStorage<Caller> {
  const isUsable = typeof database?.exec === 'function' && typeof database.prepare === 'function';
  checkSqlOptions(options);
  checkHandle(database, isUsable, needed);
  return sqlStorage(new SqliteTable(database, specOf(dialect, options)), options);
}
