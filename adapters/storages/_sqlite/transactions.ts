import { ownWords } from '../../../src/for-storages.js';
import { OpenTransaction, Uncommitted } from '../_shared/meaning.js';
import { WrongResult } from '../_shared/wrong-handle.js';
import type { FoundRow } from './connection.js';
import { type Result, resultOf, resultOfServer } from './errors.js';

/** A statement and its parameters, which are text: each library binds that in the same way. */
export interface Statement {
  readonly sql: string;
  readonly args: readonly string[];
}

/** A SQLite that answers later: what this storage asks of it. */
export interface SqliteClient {
  /**
   * Runs statements in a transaction of their own, and returns the rows of each.
   *
   * @throws {Uncommitted} if it surely committed nothing
   * @throws {DoubtfulCommit} if the database is there, and can be asked
   * Anything else thrown leaves it open.
   */
  commit(statements: readonly Statement[]): Promise<FoundRow[][]>;
  /** Runs statements in a transaction that it rolls back; rejects with the error of the first one that fails. */
  tryOut(statements: readonly Statement[]): Promise<void>;
  /** Returns SQLite's result in an error. */
  resultOf(error: unknown): Result | undefined;
  /** Whether an error without a result may come from a network, so that it does not tell what the database has done. */
  readonly isFarAway: boolean;
  /** Whether the app has closed the handle. */
  readonly isClosed: boolean;
}

/** An error of COMMIT, after which SQLite may have rolled back by itself. */
export class DoubtfulCommit extends Error {
  constructor(cause: unknown) {
    super('whether a COMMIT has failed must be asked', { cause });
    ownWords(this);
  }
}

/** Results after which SQLite may have rolled back by itself, or not. */
const doubtful: readonly (Result | undefined)[] = ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_NOMEM'];

/** The statement that ends a trial. It fails in each SQLite, when it runs, by a result that no other one here has. */
const failing: Statement = { sql: "SELECT 1 LIMIT 'roll back'", args: [] };

type Send = (statements: readonly Statement[]) => Promise<(readonly unknown[])[]>;

/**
 * A database that is far away: all statements of a transaction travel in one message, and a failing one rolls all back.
 *
 * @param send sends statements in a transaction, and returns the rows of each
 */
export function batching(handle: object, send: Send, results = resultOfServer): SqliteClient {
  return {
    get isClosed() {
      return isClosed(handle);
    },
    isFarAway: true,
    resultOf: results,
    async commit(statements) {
      try {
        return (await send(statements)).map(checkedRows);
      } catch (error) {
        const result = results(error);
        if (doubtful.includes(result)) throw new DoubtfulCommit(error);
        if (result) throw new Uncommitted(error, true);
        // `fetch` throws one without a connection. Wrapped, because a TypeError is never retried.
        const isOfFetch = error instanceof TypeError && !(error instanceof WrongResult);
        throw isOfFetch ? ownWords(new Error('the message has failed', { cause: error })) : error;
      }
    },
    async tryOut(statements) {
      await send([...statements, failing]).catch((error) => {
        if (results(error) !== 'SQLITE_MISMATCH') throw error;
      });
    },
  };
}

/** Runs a query, and returns its rows. */
export type Query = (sql: string, args: string[]) => Promise<unknown>;
type BlockingQuery = (sql: string, args: string[]) => unknown;

/** What is done in one transaction of a database in this process. */
export class Work {
  /** Whether the transaction has begun. */
  hasBegun = false;
  /** The rows of each statement, once all have been run. */
  rows: FoundRow[][] | undefined;

  constructor(
    readonly statements: readonly Statement[],
    readonly isTrial: boolean,
  ) {}

  /** What begins it: what only reads takes no lock, so that it does not wait for a transaction that writes. */
  get begin(): string {
    return this.statements.every(({ sql }) => sql.startsWith('SELECT')) ? 'BEGIN' : 'BEGIN IMMEDIATE';
  }

  /** Runs the statements one after the other. It throws at the end of a trial, so that the transaction is rolled back. */
  async run(query: Query): Promise<void> {
    this.hasBegun = true;
    const rows: FoundRow[][] = [];
    for (const { sql, args } of this.statements) rows.push(checkedRows(await query(sql, [...args])));
    this.#end(rows);
  }

  /** The same for a library that blocks. */
  runNow(query: BlockingQuery): void {
    this.hasBegun = true;
    this.#end(this.statements.map(({ sql, args }) => checkedRows(query(sql, [...args]))));
  }

  #end(rows: FoundRow[][]): void {
    this.rows = rows;
    if (this.isTrial) throw ownWords(new Error('a trial is rolled back'));
  }
}

/**
 * A database in this process: each step of a transaction is seen.
 *
 * @param transact does the work in a transaction, and commits unless it throws
 */
export function transacting(
  handle: object,
  transact: (work: Work) => Promise<unknown>,
  results = resultOf,
): SqliteClient {
  return {
    get isClosed() {
      return isClosed(handle);
    },
    isFarAway: false,
    resultOf: results,
    async commit(statements) {
      const work = new Work(statements, false);
      try {
        await transact(work);
      } catch (error) {
        if (work.rows) throw new DoubtfulCommit(error);
        if (!work.hasBegun) throw notBegun(handle, error, results);
        throw new Uncommitted(error, true);
      }
      if (!work.rows) throw new WrongResult('a transaction', 'after its work', undefined);
      return work.rows;
    },
    async tryOut(statements) {
      const work = new Work(statements, true);
      await transact(work).catch((error) => {
        if (!work.rows) throw error;
      });
    },
  };
}

/** Returns what to throw after an error of BEGIN. SQLite has no other error of it than an open transaction, and those that pass. */
function notBegun(handle: object, error: unknown, results: typeof resultOf): unknown {
  const isOpen = results(error) === 'SQLITE_ERROR' || isInTransaction(handle);
  return isOpen
    ? new OpenTransaction(error, 'give plant-store its own connection')
    : new Uncommitted(error, false);
}

function isInTransaction(handle: object): boolean {
  try {
    return (handle as { readonly inTransaction?: unknown }).inTransaction === true;
  } catch {
    // It is closed.
    return false;
  }
}

/** The last transaction that was begun on each connection: the next one waits for it. */
const lastOn = new WeakMap<object, Promise<unknown>>();

/**
 * Transactions on a connection whose library has none that keeps other statements out: those of this package wait for each other.
 * The app must leave the connection alone.
 */
export function onConnection(
  connection: object,
  exec: (sql: string) => Promise<unknown>,
  query: Query,
): SqliteClient {
  const inTransaction = async (work: Work) => {
    await exec(work.begin);
    try {
      await work.run(query);
      await exec('COMMIT');
    } catch (error) {
      // If SQLite has not rolled back by itself.
      await exec('ROLLBACK').catch(() => {});
      throw error;
    }
  };
  return transacting(connection, (work) => {
    const last = lastOn.get(connection) ?? Promise.resolve();
    const next = last.then(() => inTransaction(work));
    lastOn.set(
      connection,
      next.catch(() => {}),
    );
    return next;
  });
}

/** Libraries say so by one of these. */
function isClosed(handle: object): boolean {
  const { open, isOpen, closed } = handle as { open?: unknown; isOpen?: unknown; closed?: unknown };
  return open === false || isOpen === false || closed === true;
}

function checkedRows(rows: unknown): FoundRow[] {
  if (!Array.isArray(rows)) throw new WrongResult('a query', 'rows', rows);
  return rows;
}
