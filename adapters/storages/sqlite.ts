import { type CreateOutcome, RolledBack, StorageBusy } from '../../src/index.js';
import { type ColumnValue, outcomesOf, type Row, type Rows, textOf, type Value } from './_shared/rows.js';
import { type SqlOptions, type SqlStorage, type StoredTable, sqlStorage } from './_shared/sql-storage.js';
import {
  type Column,
  changeOf,
  type Dialect,
  learn,
  Rejection,
  schemaOfIn,
  specOf,
  type TableSpec,
  unusable,
} from './_shared/table.js';

export type { ColumnValue };

/** The part that this storage uses of a connection of `libsql`, `better-sqlite3`, `node:sqlite` or `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    all(...values: Values): unknown[];
    run(...values: Values): { changes: number | bigint };
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the drivers' own types ask for this or that; strings are sent
type Values = any[];

// By the affinity of a type, in SQLite's own order: REAL rounds ids, and what is no text changes names such as `007`.
const texts = /^(?!.*INT)(.*(CHAR|CLOB|TEXT|BLOB)|$)/i;
const ids = /INT|CHAR|CLOB|TEXT|BLOB|^(?!.*(REAL|FLOA|DOUB))/i;
const keys = /INT|CHAR|CLOB|TEXT|BLOB|^$/i;
const dialect: Dialect = {
  mark: '"',
  types: { id: 'INTEGER', name: 'TEXT', tag: 'TEXT' },
  exact: { id: ids, name: texts, tag: texts, namespace: keys },
  text: 'TEXT',
};

/** The options of `sqliteStorage`. */
export type SqliteOptions<Caller = unknown> = SqlOptions<Caller>;

/** What `sqliteStorage` returns. */
export type SqliteStorage<Caller = unknown> = SqlStorage<Caller>;

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
export function sqliteStorage<Caller = unknown>(
  database: SqliteDatabase,
  options: SqliteOptions<Caller> = {},
): SqliteStorage<Caller> {
  if (typeof database?.exec !== 'function' || typeof database.prepare !== 'function') {
    throw new TypeError("sqliteStorage needs an open database: pass new Database('plants.db')");
  }
  return sqlStorage(new SqliteTable(database, specOf(dialect, options)), options);
}

type Statement = ReturnType<SqliteDatabase['prepare']> & {
  /** Of node:sqlite, whose connection may have another default. */
  setReturnArrays?(isEnabled: boolean): void;
  /** Since Node 26, `run` throws at a rowid beyond 2^53 otherwise. */
  setReadBigInts?(isEnabled: boolean): void;
};

/** A table of a database that may have other connections, in this process and in others. */
class SqliteTable implements StoredTable {
  /** Statements that have worked. libsql cannot reuse a statement that failed, so it comes back only after success. */
  readonly #prepared = new Map<string, Statement>();
  readonly #sql: ReturnType<typeof sqlOf>;

  constructor(
    readonly database: SqliteDatabase,
    readonly spec: TableSpec,
  ) {
    this.#sql = sqlOf(spec);
  }

  /** BEGIN around a single statement detects that the app has a transaction open. */
  insert(rows: Rows): CreateOutcome[] {
    let step: 'begin' | 'insert' | 'commit' = 'begin';
    try {
      this.database.exec('BEGIN IMMEDIATE');
      step = 'insert';
      this.#look();
      const change = changeOf(this.spec, rows);
      if (change) throw change;
      const outcomes = this.#insert(rows);
      step = 'commit';
      this.database.exec('COMMIT');
      return outcomes;
    } catch (error) {
      const isRolledBack = step !== 'begin' && this.#rollBack();
      // A deferred constraint fails at COMMIT. After other errors there, the plants may or may not be stored.
      const isDefinite = step === 'insert' || (isRolledBack && isResult(error, /^SQLITE_CONSTRAINT/, 19));
      if (step !== 'begin' || !/within a transaction/.test(String(error)))
        throw this.#explained(error, isDefinite);
      const why = 'the connection already has an open transaction: give plant-store its own connection';
      throw new StorageBusy(why, { cause: error });
    }
  }

  /** What to throw: the one place that knows what becomes of the plants. `groupCommit` retries what was rolled back. */
  #explained(error: unknown, isDefinite: boolean): unknown {
    // Another connection holds the lock, of the file or of a table in a shared cache.
    if (isResult(error, /^SQLITE_(BUSY|LOCKED)/, 5, 6)) return new RolledBack('together', error);
    if (error instanceof Rejection) return error;
    const [, noTable, noColumn, noIndex] =
      /(no such table)|(no such column|has no column)|(ON CONFLICT clause)/.exec(String(error)) ?? [];
    if (noIndex) return unusable(this.spec, this.spec.unindexed, error);
    // Of this table, or of one that a trigger needs: look again.
    if (noTable || noColumn) this.spec.isKnown = false;
    try {
      this.#look();
      if (noTable && !this.spec.isKnown) return unusable(this.spec, this.spec.missing, error);
    } catch (fault) {
      if (fault instanceof Rejection) return fault;
    }
    return isDefinite ? new Rejection('apart', error) : error;
  }

  /** RETURNING says which rows are new; of a lone plant, a count does, and without JSON: in a fifth less time. */
  #insert(rows: Rows): CreateOutcome[] {
    const { insertOne, insert, stored } = this.#sql;
    const values = rows[0]!.map(textOf);
    const created =
      rows.length === 1 && this.spec.isPlain
        ? Array(Number(this.#use(insertOne, (statement) => statement.run(...values)).changes)).fill({})
        : this.#all(insert, rows);
    if (created.length === rows.length) return rows.map(() => 'created');
    return outcomesOf(rows, created, this.#all(stored, rows));
  }

  async find(key: Row): Promise<Record<string, unknown> | undefined> {
    try {
      this.#look();
      // Nothing is stored under a key that a column would change.
      return changeOf(this.spec, [key]) ? undefined : this.#all(this.#sql.find, [key])[0];
    } catch (error) {
      throw this.#explained(error, false);
    }
  }

  async createTable(): Promise<void> {
    this.#look();
    this.database.exec(this.spec.schema);
  }

  /** @throws {Rejection} if a column is missing, or would change the values that it is given */
  #look(): void {
    if (this.spec.isKnown) return;
    const info = this.#prepare('SELECT name, type FROM pragma_table_info(?)');
    learn(this.spec, info.all(this.spec.given) as Column[]);
  }

  #all(sql: string, rows: Rows): Record<string, unknown>[] {
    // Not as a replacer, which sees what a `toJSON` that the app gave to BigInt has made of an id.
    const json = JSON.stringify(rows.map((row) => row.map(sent)));
    return this.#use(sql, (statement) => statement.all(json)) as Record<string, unknown>[];
  }

  #use<T>(sql: string, use: (statement: Statement) => T): T {
    const statement = this.#prepared.get(sql) ?? this.#prepare(sql);
    this.#prepared.delete(sql);
    const result = use(statement);
    this.#prepared.set(sql, statement);
    return result;
  }

  #prepare(sql: string): Statement {
    const statement: Statement = this.database.prepare(sql);
    statement.setReturnArrays?.(false);
    statement.setReadBigInts?.(true);
    return statement;
  }

  #rollBack(): boolean {
    try {
      this.database.exec('ROLLBACK');
      return true;
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
      return false;
    }
  }
}

/** One statement and one JSON text per batch, because a call into SQLite costs more than an insert. */
function sqlOf({ name, columns, key, found }: TableSpec) {
  // A value with the affinity of the cast would be compared by that, and use no index of a column of text: `+` ends it.
  const values = columns.map((_, i) => {
    const value = `json_extract(new.value, '$[${i}]')`;
    return i === key.length - 1 ? `+CAST(${value} AS INTEGER)` : value;
  });
  const keyOf = (row: string) => key.map((column) => `quote(${row}${column})`).join(` || ',' || `);
  const same = key.map((column, i) => `plant.${column} = ${values[i]}`).join(' AND ');
  const rows = `json_each(?) AS new JOIN ${name} AS plant ON ${same}`;
  const into = `INSERT INTO ${name} (${columns.join(', ')})`;
  const ending = `ON CONFLICT (${key.join(', ')}) DO NOTHING`;
  return {
    insert: `${into} SELECT ${values.join(', ')} FROM json_each(?) AS new WHERE true ${ending} RETURNING ${keyOf('')} AS key`,
    /** Of a table without columns of the app, whose numbers each driver binds in its own way. */
    insertOne: `${into} VALUES (CAST(? AS INTEGER)${', ?'.repeat(columns.length - 1)}) ${ending}`,
    stored: `SELECT new.key AS n, ${keyOf('plant.')} AS key FROM ${rows}`,
    find: `SELECT ${found} FROM ${rows}`,
  };
}

/** A number where it is exact, because a column without a type does not make one of a text. */
function sent(value: Value): Value {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

/** Whether an error has one of these results of SQLite, as each driver reports it, whatever extends it. */
function isResult(error: unknown, name: RegExp, ...results: readonly number[]): boolean {
  const { code, errcode } = Object(error) as { code?: unknown; errcode?: unknown };
  return name.test(String(code)) || results.includes(Number(errcode) & 0xff);
}
