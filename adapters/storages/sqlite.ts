import { systemClock } from '../../src/clock.js';
import { type CreateOutcome, groupCommit, type NewPlant, RolledBack } from '../../src/index.js';
import { outcomesOf, quote, type SqlOptions, type SqlStorage, splitOptions } from './_sql.js';

/** What is used of a handle of `libsql`, `better-sqlite3`, `node:sqlite` or `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the drivers' own types ask for this or that; a string is sent
  prepare(sql: string): { all(...values: any[]): unknown[] };
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
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
  const { table: name, groupOptions } = splitOptions(options);
  const table = quote(name, '"');
  const rows = new Table(database, table);
  return {
    ...groupCommit((plants: readonly NewPlant[]) => rows.insert(plants), groupOptions),
    async find(id) {
      const [row] = rows.all(rows.selectPlant, String(id));
      return row && { id: BigInt(row.id), name: row.name, tag: row.tag ?? undefined };
    },
    async createTable() {
      for (let attempt = 1; ; attempt++) {
        try {
          database.exec(schemaOf(table));
          return;
        } catch (error) {
          if (!isBusy(error) || attempt === 100) throw error;
          await new Promise<void>((resolve) => systemClock.setTimer(resolve, 100 * Math.random()));
        }
      }
    },
  };
}

/** The table of a database that may have other handles, in this process and in others. */
class Table {
  readonly selectPlant: string;
  readonly #database: SqliteDatabase;
  readonly #insert: string;
  readonly #selectIds: string;
  /** Statements that have worked. libsql cannot reuse a statement that failed, so it comes back only after success. */
  readonly #prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>();

  constructor(database: SqliteDatabase, table: string) {
    this.#database = database;
    // One statement and one JSON text per batch, because a call into SQLite costs more than an insert. Ids travel as
    // text: drivers round beyond 2^53, and node:sqlite's `run()` throws on such an id after inserting it.
    this.#insert = `INSERT INTO ${table} (id, name, tag)
SELECT CAST(json_extract(value, '$[0]') AS INTEGER), json_extract(value, '$[1]'), json_extract(value, '$[2]')
FROM json_each(?) WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS id`;
    this.#selectIds = `SELECT CAST(id AS TEXT) AS id FROM ${table}
WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))`;
    this.selectPlant = `SELECT CAST(id AS TEXT) AS id, name, tag FROM ${table} WHERE id = CAST(? AS INTEGER)`;
  }

  all(sql: string, value: string): Row[] {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.delete(sql);
    const rows = statement.all(value) as Row[];
    this.#prepared.set(sql, statement);
    return rows;
  }

  /** BEGIN around a single statement detects that the app has a transaction open. */
  insert(plants: readonly NewPlant[]): CreateOutcome[] {
    this.#begin();
    let inserted = false;
    try {
      const text = JSON.stringify(plants.map(({ id, name, tag }) => [String(id), name, tag]));
      const created = new Set(this.all(this.#insert, text).map(({ id }) => id));
      const isAll = created.size === plants.length;
      const found = isAll
        ? []
        : this.all(this.#selectIds, JSON.stringify(plants.map(({ id }) => String(id))));
      inserted = true;
      this.#database.exec('COMMIT');
      return outcomesOf(plants, created, new Set(found.map(({ id }) => id)));
    } catch (error) {
      this.#rollBack();
      if (isBusy(error)) throw new RolledBack('together', error);
      // After a failed COMMIT the plants may or may not be stored.
      throw inserted ? error : new RolledBack('apart', error);
    }
  }

  #begin(): void {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (isBusy(error)) throw new RolledBack('together', error);
      if (!/within a transaction/.test(String(error))) throw error;
      const why = 'the SQLite handle is in a transaction of the app: give plant-store a handle of its own';
      throw new Error(why, { cause: error });
    }
  }

  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
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
