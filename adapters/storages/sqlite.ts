import { type CreateOutcome, groupCommit, type NewPlant, RolledBack } from '../../src/index.js';
import {
  type Columns,
  commitTogether,
  definitionsOf,
  type IdRow,
  membersOf,
  outcomesOf,
  plantOf,
  quote,
  type SqlOptions,
  type SqlStorage,
  valuesOf,
} from './_sql.js';

/** The part that this storage uses of a connection of `libsql`, `better-sqlite3`, `node:sqlite` or `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the drivers' own types ask for this or that; a string is sent
  prepare(sql: string): { all(...values: any[]): unknown[] };
}

/** The options of `sqliteStorage`. */
export type SqliteOptions = SqlOptions;

/** What `sqliteStorage` returns. */
export type SqliteStorage = SqlStorage;

const columns: Columns = { id: 'INTEGER PRIMARY KEY', name: 'TEXT NOT NULL', tag: 'TEXT' };
const list = membersOf(columns).join(', ');

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf('"plants"');

function schemaOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (${definitionsOf(columns)})`;
}

/**
 * Stores plants in SQLite through your connection, which it neither configures nor closes. The connection's settings
 * decide what survives a power cut: `journal_mode=WAL` with `synchronous=FULL` does, `NORMAL` does not. Set
 * `busy_timeout` to 100 ms or less, because the driver blocks the event loop while it waits, and this storage retries
 * anyway. While the app has a transaction open on the connection, `create` fails, because the app's ROLLBACK would remove
 * the plant. All callers share one table. The database must be in UTF-8, the default: in UTF-16, SQLite changes U+FFFE
 * and U+FFFF.
 *
 * @throws {TypeError} if an argument or option is invalid
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
    find: async (id) => plantOf(id, table.select(list, [String(id)])[0]),
    createTable: () => whenFree(() => void database.exec(schemaOf(table.name)), options.timeoutMs),
  };
}

/** Runs `work` as soon as no other connection holds the lock, with the pauses and the timeout of a create. */
async function whenFree<T>(work: () => T, timeoutMs: number | undefined): Promise<T> {
  let result: { readonly value: T } | undefined;
  const attempt = (): CreateOutcome[] => {
    try {
      result = { value: work() };
      return ['created'];
    } catch (error) {
      throw isBusy(error) ? new RolledBack('together', error) : error;
    }
  };
  // groupCommit is what retries; the plant is never stored.
  await groupCommit(attempt, { timeoutMs }).create({ id: 0n, name: '' }, undefined as never);
  return result!.value;
}

/** A table of a database that may have other connections, in this process and in others. */
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
    const members = membersOf(columns).map((member, i) => {
      const value = `json_extract(value, '$[${i}]')`;
      return member === 'id' ? `CAST(${value} AS INTEGER)` : value;
    });
    const insert = `INSERT INTO ${this.name} (${list}) SELECT ${members}
FROM json_each(?) WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS id`;
    const ids = plants.map(({ id }) => String(id));
    const values = plants.map((plant) => valuesOf(columns, plant));
    let step: 'begin' | 'insert' | 'commit' = 'begin';
    try {
      this.database.exec('BEGIN IMMEDIATE');
      step = 'insert';
      const created = this.#all<IdRow>(insert, values);
      const stored = created.length < ids.length ? this.select<IdRow>('CAST(id AS TEXT) AS id', ids) : [];
      step = 'commit';
      this.database.exec('COMMIT');
      return outcomesOf(plants, created, stored);
    } catch (error) {
      if (step !== 'begin') this.#rollBack();
      if (isBusy(error)) throw new RolledBack('together', error);
      if (step === 'insert') throw new RolledBack('apart', error);
      // After a failed COMMIT the plants may or may not be stored.
      if (step === 'commit' || !/within a transaction/.test(String(error))) throw error;
      const why =
        'the SQLite connection already has an open transaction: give plant-store its own connection';
      throw new Error(why, { cause: error });
    }
  }

  select<Row extends object = Record<string, unknown>>(what: string, ids: readonly string[]): Row[] {
    const select = `SELECT ${what} FROM ${this.name}
WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))`;
    return this.#all<Row>(select, ids);
  }

  #all<Row>(sql: string, values: readonly unknown[]): Row[] {
    const statement = this.#prepared.get(sql) ?? this.database.prepare(sql);
    this.#prepared.delete(sql);
    const rows = statement.all(JSON.stringify(values)) as Row[];
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
