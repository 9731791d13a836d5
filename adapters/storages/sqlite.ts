import type { ColumnValue } from './_shared/rows.js';
import {
  type CheckTrial,
  checkSqlOptions,
  type SqlOptions,
  type SqlStorage,
  sqlStorage,
} from './_shared/sql-storage.js';
import { schemaOfIn, specOf, type TableOptions } from './_shared/table.js';
import { checkHandle } from './_shared/wrong-handle.js';
import type { SqliteClient } from './_sqlite/client.js';
import { clientOf } from './_sqlite/handles.js';
import type {
  D1Binding,
  DurableObjectSqlite,
  ExpoDatabase,
  LibsqlClient,
  OpSqliteDatabase,
  Sqlite3Database,
  SqliteDatabase,
  SqliteHandle,
  SqliteOfSqlite3,
  TursoDatabase,
} from './_sqlite/libraries.js';
import { dialect } from './_sqlite/statements.js';
import { SqliteStoredTable } from './_sqlite/stored-table.js';
import { needed, neededBeside, SqliteTable } from './_sqlite/table.js';

export type {
  CheckTrial,
  ColumnValue,
  D1Binding,
  DurableObjectSqlite,
  ExpoDatabase,
  LibsqlClient,
  OpSqliteDatabase,
  Sqlite3Database,
  SqliteDatabase,
  SqliteHandle,
  SqliteOfSqlite3,
  SqlOptions as SqliteOptions,
  SqlStorage as SqliteStorage,
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
 * Stores plants in SQLite, through a handle of any of its libraries: `libsql`, `better-sqlite3`, `node:sqlite`, `bun:sqlite`; Turso and libSQL
 * (`@libsql/client`, `@tursodatabase/serverless`), Cloudflare D1, the SQLite of a Durable Object, `@tursodatabase/database`,
 * `libsql/promise`, `sqlite3`, `sqlite`, `expo-sqlite`, `op-sqlite`. It neither configures nor closes what you pass. The plants of a batch
 * are stored in one transaction, together or not at all. All callers share one table. The database must be in UTF-8, the default.
 *
 * A file's settings decide what survives a power cut: `journal_mode=WAL` with `synchronous=FULL` does, `NORMAL` does not. If the driver
 * blocks the event loop, set `busy_timeout` to 100 ms or less, because this storage retries anyway. While the app has a transaction open
 * on the connection, `create` fails, because the app's ROLLBACK would remove the plant. With `libsql/promise`, `sqlite3` and `sqlite`,
 * give plant-store a connection of its own, because all statements of a connection share its transaction.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import Database from 'libsql';
 *
 * const database = new Database('/var/lib/plants/plants.db'); // or createClient({ url }), env.DB, ctx.storage
 * database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=100');
 * const storage = sqliteStorage(database);
 * await storage.createTable();
 * ```
 */
export function sqliteStorage<Caller = unknown>(
  handle: SqliteHandle,
  given: SqlOptions<Caller> = {},
): SqlStorage<Caller> {
  const client = clientOf(handle);
  const lacks = typeof client === 'string' ? client : undefined;
  const options = checkSqlOptions(given);
  checkHandle(handle, lacks === undefined, lacks ? neededBeside(lacks) : needed);
  const spec = specOf(dialect, options);
  const table = new SqliteTable(handle, client as SqliteClient, spec);
  return sqlStorage(new SqliteStoredTable(spec, table, options.timeoutMs), options);
}
