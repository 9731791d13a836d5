import { type CreateOutcome, type NewPlant, RolledBack } from '../../src/index.js';
import { systemClock } from '../../src/timers.js';
import {
  commitTogether,
  outcomesOf,
  plantOf,
  quote,
  type Row,
  type SqlOptions,
  type SqlStorage,
} from './_sql.js';

/** What is used of a handle of `libsql`, `better-sqlite3`, `node:sqlite` or `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the drivers' own types ask for this or that; a string is sent
  prepare(sql: string): { all(...values: any[]): unknown[] };
}

/** The options of `sqliteStorage`. */
export type SqliteOptions = SqlOptions;

/** What `sqliteStorage` returns. */
export type SqliteStorage = SqlStorage;

/** The table, in SQL, to be made by a migration or by `createTable`. */
export const schema = schemaOf('"plants"');

function schemaOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)`;
}

/**
 * Keeps plants in SQLite, on a handle of your own, which it neither configures nor closes. Durability is set by the
 * handle: `journal_mode=WAL` with `synchronous=FULL` survives a power cut, `NORMAL` does not. Keep `busy_timeout` at
 * 100 ms or less, because the driver blocks the event loop while it waits, and this storage retries by itself. If the
 * app has a transaction open on the handle, `create` fails, because a ROLLBACK of the app would remove the plant. All
 * callers share one table. The database has to be in UTF-8, the default: in UTF-16, SQLite changes U+FFFE and U+FFFF.
 *
 * @throws {TypeError} that names a bad argument or option
 *
 * @example
 * ```ts
 * import Database from 'libsql';
 *
 * const database = new Database('plants.db');
 * database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=100');
 * const storage = sqliteStorage(database);
 * await storage.createTable();
 * ```
 */
export function sqliteStorage(database: SqliteDatabase, options: SqliteOptions = {}): SqliteStorage {
  if (typeof database?.exec !== 'function' || typeof database.prepare !== 'function') {
    throw new TypeError("sqliteStorage needs an open database: pass new Database('plants.db')");
  }
  const table = new SqliteTable(database, quote(options.table, '"'));
  return {
    ...commitTogether((plants) => table.insert(plants), options),
    find: async (id) => plantOf(id, table.select('name, tag', [String(id)])[0]),
    createTable: () => table.make(),
  };
}

/** A table of a database that may have other handles, in this process and in others. */
class SqliteTable {
  /** Statements that have worked. libsql cannot reuse a statement that failed, so it comes back only after success. */
  readonly #prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>();

  constructor(
    readonly database: SqliteDatabase,
    readonly name: string,
  ) {}

  /** BEGIN around a single statement detects that the app has a transaction open. */
  insert(plants: readonly NewPlant[]): CreateOutcome[] {
    // One statement and one JSON text per batch, because a call into SQLite costs more than an insert. Ids travel as
    // text: drivers round beyond 2^53, and node:sqlite's `run()` throws on such an id after inserting it.
    const insert = `INSERT INTO ${this.name} (id, name, tag)
SELECT CAST(json_extract(value, '$[0]') AS INTEGER), json_extract(value, '$[1]'), json_extract(value, '$[2]')
FROM json_each(?) WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS id`;
    const ids = plants.map(({ id }) => String(id));
    const values = plants.map(({ name, tag }, i) => [ids[i], name, tag]);
    let step: 'begin' | 'insert' | 'commit' = 'begin';
    try {
      this.database.exec('BEGIN IMMEDIATE');
      step = 'insert';
      const created = this.#all(insert, values);
      const stored = created.length < ids.length ? this.select('CAST(id AS TEXT) AS id', ids) : [];
      step = 'commit';
      this.database.exec('COMMIT');
      return outcomesOf(plants, created, stored);
    } catch (error) {
      if (step !== 'begin') this.#rollBack();
      if (isBusy(error)) throw new RolledBack('together', error);
      if (step === 'insert') throw new RolledBack('apart', error);
      // After a failed COMMIT the plants may or may not be stored.
      if (step === 'commit' || !/within a transaction/.test(String(error))) throw error;
      const why = 'the SQLite handle is in a transaction of the app: give plant-store a handle of its own';
      throw new Error(why, { cause: error });
    }
  }

  select(columns: string, ids: readonly string[]): Row[] {
    const select = `SELECT ${columns} FROM ${this.name}
WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))`;
    return this.#all(select, ids);
  }

  async make(attempt = 1): Promise<void> {
    try {
      this.database.exec(schemaOf(this.name));
    } catch (error) {
      if (!isBusy(error) || attempt === 100) throw error;
      await new Promise<void>((resolve) => systemClock.setTimer(resolve, 100 * Math.random()));
      await this.make(attempt + 1);
    }
  }

  #all(sql: string, list: readonly unknown[]): Row[] {
    const statement = this.#prepared.get(sql) ?? this.database.prepare(sql);
    this.#prepared.delete(sql);
    const rows = statement.all(JSON.stringify(list)) as Row[];
    this.#prepared.set(sql, statement);
    return rows;
  }

  #rollBack(): void {
    try {
      this.database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }
}

/** Whether another connection holds the lock (SQLITE_BUSY, as each driver reports it). */
function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return /^SQLITE_BUSY/.test(String(code)) || (Number(errcode) & 0xff) === 5;
}
