import { type CreateOutcome, groupCommit, RolledBack, StorageBusy } from '../../src/index.js';
import { inOrder, outcomesOf, Rejection, UnusableTable } from './_columns.js';
import type { ColumnValue, Row, Rows } from './_rows.js';
import { type SqlOptions, type SqlStorage, type StoredTable, sqlStorage } from './_sql.js';
import { columnOf, dialect, jsonOf, sqlOf, textsOf } from './_sqlite-table.js';
import { schemaOfIn, Table } from './_table.js';

export type { ColumnValue };

/** The part that this storage uses of a connection of `libsql`, `better-sqlite3`, `node:sqlite` or `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the drivers' own types ask for this or that; a string is sent
  prepare(sql: string): { all(...values: any[]): unknown[] };
}

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
  return sqlStorage(new SqliteTable(database, new Table(dialect, options), options), options);
}

type Statement = ReturnType<SqliteDatabase['prepare']>;

/** A table of a database that may have other connections, in this process and in others. */
class SqliteTable implements StoredTable {
  /** Statements that have worked. libsql cannot reuse a statement that failed, so it comes back only after success. */
  readonly #prepared = new Map<string, Statement>();

  readonly #sql: ReturnType<typeof sqlOf>;
  #isUsable = false;

  constructor(
    readonly database: SqliteDatabase,
    readonly table: Table,
    readonly options: SqliteOptions<never>,
  ) {
    this.#sql = sqlOf(table);
  }

  /** BEGIN around a single statement detects that the app has a transaction open. */
  insert(rows: Rows): CreateOutcome[] {
    let step: 'begin' | 'insert' | 'commit' = 'begin';
    try {
      this.database.exec('BEGIN IMMEDIATE');
      step = 'insert';
      this.#look();
      const outcomes = this.#insert(rows);
      step = 'commit';
      this.database.exec('COMMIT');
      return outcomes;
    } catch (error) {
      if (step !== 'begin') this.#rollBack();
      if (isBusy(error)) throw new RolledBack('together', error);
      if (step === 'insert') throw error instanceof UnusableTable ? error : new Rejection(error);
      // After a failed COMMIT the plants may or may not be stored.
      if (step === 'commit' || !/within a transaction/.test(String(error))) throw error;
      const why =
        'the SQLite connection already has an open transaction: give plant-store its own connection';
      throw new StorageBusy(why, { cause: error });
    }
  }

  /** By the driver's count if all rows are new. RETURNING, which costs a quarter of a batch, says which ones are. */
  #insert(rows: Rows): CreateOutcome[] {
    const texts = textsOf(rows, this.table);
    const count = this.#call(texts ? this.#sql.insertOne : this.#sql.insert, (statement) =>
      counts(statement) ? Number(statement.run(...(texts ?? [jsonOf(rows)])).changes) : undefined,
    );
    if (count === rows.length) return rows.map(() => 'created');
    if (count !== undefined) {
      // Otherwise what triggers have written would stay, and they would run twice.
      this.database.exec('ROLLBACK');
      this.database.exec('BEGIN IMMEDIATE');
    }
    const created = this.#all(this.#sql.insertReturning, rows);
    return outcomesOf(rows, created, created.length < rows.length ? this.#all(this.#sql.stored, rows) : []);
  }

  find(key: Row): Promise<Record<string, unknown> | undefined> {
    return this.#whenFree(() => this.#all(this.#sql.find, [key])[0]);
  }

  create(): Promise<void> {
    return this.#whenFree(() => void this.database.exec(this.table.schema));
  }

  /** Runs `work` as soon as no other connection holds the lock, with the pauses and the timeout of a create. */
  async #whenFree<T>(work: () => T): Promise<T> {
    let result!: T;
    const attempt = (): CreateOutcome[] => {
      try {
        this.#look();
        result = work();
        return ['created'];
      } catch (error) {
        throw isBusy(error) ? new RolledBack('together', error) : error;
      }
    };
    // groupCommit is what retries; the plant is never stored.
    const { timeoutMs } = this.options;
    await groupCommit(attempt, { timeoutMs }).create({ id: 0n, name: '' }, undefined as never);
    return result;
  }

  /** @throws {UnusableTable} if a column is missing, or would change the values that it is given */
  #look(): void {
    if (this.#isUsable) return;
    const info = this.database.prepare('SELECT name, type FROM pragma_table_info(?)');
    const found = info.all(this.options.table ?? 'plants') as { name: string; type: string }[];
    if (found.length > 0) inOrder(this.table, found.map(columnOf));
    this.#isUsable = found.length > 0;
  }

  #all(sql: string, rows: Rows): Record<string, unknown>[] {
    return this.#call(sql, (statement) => statement.all(jsonOf(rows))) as Record<string, unknown>[];
  }

  #call<T>(sql: string, call: (statement: Statement) => T): T {
    const statement = this.#prepared.get(sql) ?? this.database.prepare(sql);
    this.#prepared.delete(sql);
    const result = call(statement);
    this.#prepared.set(sql, statement);
    return result;
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

/**
 * Whether `run` counts the rows of its statement alone: in libsql, better-sqlite3 and Bun since 1.4.4, which have `reader`.
 * Before, Bun counts the rows of triggers too; and in Node 26, `run` of node:sqlite throws at an id beyond 2^53.
 */
function counts(statement: object): statement is { run(...values: unknown[]): { changes: unknown } } {
  return 'run' in statement && 'reader' in statement;
}
