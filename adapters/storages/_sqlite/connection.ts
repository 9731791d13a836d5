import { WrongResult } from '../_shared/wrong-handle.js';
import type { FoundRow, Statement } from './client.js';

/** A prepared statement of `libsql`, `better-sqlite3`, `node:sqlite` or `bun:sqlite`. */
interface Prepared {
  all(...values: readonly (string | null)[]): unknown;
  /** Returns how many rows have changed, as `changes`. */
  run(...values: readonly (string | null)[]): unknown;
  /** Of node:sqlite, whose connection may have another default. */
  setReturnArrays?(isEnabled: boolean): void;
  /** Otherwise `all` throws at an integer beyond 2^53 (https://nodejs.org/api/sqlite.html#statementsetreadbigintsenabled). */
  setReadBigInts?(isEnabled: boolean): void;
}

/**
 * Whether the driver may count the rows of triggers, too, as bun:sqlite did up to 1.4.3 (oven-sh/bun#34916). SQLite's own count is
 * then asked for, which takes 5 µs there, and elsewhere doubled the time of an INSERT.
 */
const mayCountTriggers = 'Bun' in globalThis;

const changes: Statement = { sql: 'SELECT changes() AS changes', args: [] };

const changed: readonly FoundRow[] = [{}];

/** The app's connection of a driver that blocks: its statements, and what each driver makes of them. */
export class SqliteConnection {
  /** Statements that have worked: libsql leaves one that failed in progress (tursodatabase/libsql-js#238), so that is not kept. */
  readonly #prepared = new Map<string, Prepared>();

  constructor(readonly database: { prepare(sql: string): unknown }) {}

  /** Runs a statement, which stays prepared, and returns its rows. */
  query({ sql, args, hasNoRows }: Statement): unknown {
    const statement = this.#prepared.get(sql) ?? this.#prepare(sql);
    this.#prepared.delete(sql);
    const result = hasNoRows ? this.#count(statement, args) : statement.all(...args);
    this.#prepared.set(sql, statement);
    return result;
  }

  /** Returns a row, without a key, if a statement has changed one: those of triggers are none. */
  #count(statement: Prepared, args: Statement['args']): readonly FoundRow[] {
    const counted = changesOf(statement.run(...args));
    const count = mayCountTriggers ? changesOf((this.query(changes) as FoundRow[])[0]) : counted;
    return count > 0 ? changed : [];
  }

  #prepare(sql: string): Prepared {
    const statement = this.database.prepare(sql) as Prepared;
    statement.setReturnArrays?.(false);
    statement.setReadBigInts?.(true);
    return statement;
  }
}

function changesOf(result: unknown): number {
  const { changes } = Object(result) as { readonly changes?: unknown };
  // node:sqlite may count in bigints.
  if (typeof changes !== 'number' && typeof changes !== 'bigint')
    throw new WrongResult('run', '{ changes }', result);
  return Number(changes);
}
