import { isPromise, WrongResult } from '../_shared/wrong-handle.js';

/** The part that this storage uses of a connection of `libsql`, `better-sqlite3`, `node:sqlite` or `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    all(...values: Values): unknown[];
    /** Returns how many rows have changed, as `changes`. */
    run(...values: Values): unknown;
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the drivers' own types ask for this or that; strings are sent
type Values = any[];

type Statement = ReturnType<SqliteDatabase['prepare']> & {
  /** Of node:sqlite, whose connection may have another default. */
  setReturnArrays?(isEnabled: boolean): void;
  /** Since Node 26, `all` throws at an integer beyond 2^53 otherwise. */
  setReadBigInts?(isEnabled: boolean): void;
};

/** A row. */
export type FoundRow = Readonly<Record<string, unknown>>;

/**
 * Whether the driver may count the rows of triggers, too, as bun:sqlite did up to 1.4.3. SQLite's own count is then asked for, which takes
 * 5 µs there, and elsewhere doubled the time of an INSERT.
 */
const mayCountTriggers = 'Bun' in globalThis;

/** The app's connection: its statements, and what each driver makes of them. */
export class SqliteConnection {
  /** Statements that have worked. libsql cannot reuse a statement that failed, so it comes back only after success. */
  readonly #prepared = new Map<string, Statement>();

  constructor(readonly database: SqliteDatabase) {}

  exec(sql: string): void {
    const result = this.database.exec(sql);
    if (!isPromise(result)) return;
    // It may have begun a transaction, which would stay open.
    Promise.resolve(result)
      .then(() => this.database.exec('ROLLBACK'))
      .catch(() => {});
    throw new WrongResult('exec', 'no promise', result);
  }

  /** Runs a statement that stays prepared, and returns its rows. */
  all(sql: string, ...values: (string | null)[]): FoundRow[] {
    return this.#use(sql, (statement) => checkedRows(statement.all(...values)));
  }

  /** Runs a statement without rows, which stays prepared, and returns how many rows it has changed, without those of triggers. */
  run(sql: string, ...values: (string | null)[]): number {
    const changes = this.#use(sql, (statement) => changesOf(statement.run(...values)));
    return mayCountTriggers ? changesOf(this.all('SELECT changes() AS changes')[0]) : changes;
  }

  /** Asks about a table, by a statement that does not stay prepared. */
  query(sql: string, ...values: string[]): FoundRow[] {
    return checkedRows(this.#prepare(sql).all(...values));
  }

  /** Returns the error of a task that is rolled back; `undefined` if it has none, or could not be tried. */
  errorOf(task: () => unknown): unknown {
    try {
      this.exec('BEGIN IMMEDIATE');
    } catch {
      // The app has a transaction open, which is not ours to roll back.
      return undefined;
    }
    try {
      task();
      return undefined;
    } catch (error) {
      return error;
    } finally {
      this.rollBack();
    }
  }

  /** Returns whether a transaction was open. */
  rollBack(): boolean {
    try {
      this.exec('ROLLBACK');
      return true;
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
      return false;
    }
  }

  /** Whether the app has closed the connection: better-sqlite3 and libsql say so by `open`, node:sqlite by `isOpen`. */
  get isClosed(): boolean {
    const { open, isOpen } = this.database as { readonly open?: unknown; readonly isOpen?: unknown };
    return open === false || isOpen === false;
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
    if (typeof statement?.all !== 'function') throw new WrongResult('prepare', 'a statement', statement);
    statement.setReturnArrays?.(false);
    statement.setReadBigInts?.(true);
    return statement;
  }
}

function checkedRows(result: unknown): FoundRow[] {
  if (!Array.isArray(result)) throw new WrongResult('all', 'an array', result);
  return result;
}

function changesOf(result: unknown): number {
  const { changes } = Object(result) as { readonly changes?: unknown };
  // node:sqlite may count in bigints.
  if (typeof changes !== 'number' && typeof changes !== 'bigint')
    throw new WrongResult('run', '{ changes }', result);
  return Number(changes);
}
