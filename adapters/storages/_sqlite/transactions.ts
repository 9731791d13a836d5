import { OwnError } from '../../../src/for-storages.js';
import { WrongResult } from '../_shared/wrong-handle.js';
import { checkedRows, Failed, type FoundRow, isClosed, type SqliteClient, type Statement } from './client.js';
import { resultOf, type Step } from './codes.js';

/** Runs a statement, and returns its rows. */
export type Query = (statement: Statement) => Promise<unknown>;

/** What is done in one transaction of a database in this process. */
export class Work {
  /** Where it is. */
  step: Step = 'begin';
  /** The rows of each statement that was run. */
  readonly rows: FoundRow[][] = [];

  constructor(
    readonly statements: readonly Statement[],
    readonly isTrial: boolean,
  ) {}

  /** Whether it takes no lock, so that it does not wait for a transaction that writes, and may run in one of the app. */
  get reads(): boolean {
    return this.statements.every(({ sql }) => sql.startsWith('SELECT'));
  }

  /** What begins it. */
  get begin(): string {
    return this.reads ? 'BEGIN' : 'BEGIN IMMEDIATE';
  }

  /** Runs the statements one after the other. It throws at the end of a trial, so that the transaction is rolled back. */
  async run(query: Query): Promise<void> {
    this.step = 'statement';
    for (const statement of this.statements) {
      const isNeeded = statement.isNeeded?.(this.rows) ?? true;
      this.rows.push(isNeeded ? checkedRows(await query(statement)) : []);
    }
    this.#end();
  }

  /** The same for a library that blocks. */
  runNow(query: (statement: Statement) => unknown): void {
    this.step = 'statement';
    for (const statement of this.statements) {
      const isNeeded = statement.isNeeded?.(this.rows) ?? true;
      this.rows.push(isNeeded ? checkedRows(query(statement)) : []);
    }
    this.#end();
  }

  #end(): void {
    if (this.isTrial) throw new OwnError('a trial is rolled back');
    this.step = 'commit';
  }
}

/** How a database in this process is asked, beside its transactions. */
interface InProcess {
  readonly results?: typeof resultOf;
  readonly blocks?: boolean;
  /** Reads whether the app has a transaction open, if the errors of the handle do not say so. */
  readonly isInTransaction?: () => boolean;
}

/**
 * A database in this process: each step of a transaction is seen.
 *
 * @param transact does the work in a transaction, and commits unless it throws
 */
export function transacting(
  handle: object,
  transact: (work: Work) => Promise<unknown>,
  { results = resultOf, blocks = false, isInTransaction }: InProcess = {},
): SqliteClient {
  return {
    blocks,
    counts: blocks,
    get isClosed() {
      return isClosed(handle);
    },
    get isInTransaction() {
      return isInTransaction?.() ?? false;
    },
    resultOf: results,
    async commit(statements) {
      const work = new Work(statements, false);
      await transact(work).catch((error) => Promise.reject(new Failed(work.step, error)));
      if (work.step !== 'commit')
        throw new Failed('statement', new WrongResult('a transaction', 'after its work', undefined));
      return work.rows;
    },
    async tryOut(statements) {
      const work = new Work(statements, true);
      await transact(work).catch((error) => {
        if (work.rows.length < statements.length) throw new Failed(work.step, error);
      });
    },
  };
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
  isInTransaction?: () => boolean,
): SqliteClient {
  const inTransaction = async (work: Work) => {
    if (work.reads) return work.run(query);
    await exec(work.begin);
    try {
      await work.run(query);
      await exec('COMMIT');
    } catch (error) {
      await exec('ROLLBACK').then(
        // A COMMIT that has failed has not been done by SQLite itself.
        () => onRollback(work),
        // SQLite has rolled back by itself, as it may when the disk is full (https://www.sqlite.org/lang_transaction.html).
        () => {},
      );
      throw error;
    }
  };
  const transact = (work: Work) => {
    const last = lastOn.get(connection) ?? Promise.resolve();
    const next = last.then(() => inTransaction(work));
    lastOn.set(
      connection,
      next.catch(() => {}),
    );
    return next;
  };
  return transacting(connection, transact, isInTransaction && { isInTransaction });
}

/** A transaction was there to be rolled back: so its COMMIT has not worked. */
function onRollback(work: Work): void {
  if (work.step === 'commit') work.step = 'statement';
}

/** Transactions on a connection whose driver blocks: each is done in one iteration of the event loop. */
export function blocking(
  connection: object,
  exec: (sql: string) => unknown,
  query: (statement: Statement) => unknown,
): SqliteClient {
  const transact = async (work: Work) => {
    if (work.reads) return work.runNow(query);
    exec(work.begin);
    try {
      work.runNow(query);
      exec('COMMIT');
    } catch (error) {
      try {
        exec('ROLLBACK');
        onRollback(work);
      } catch {
        // SQLite has rolled back by itself.
      }
      throw error;
    }
  };
  return transacting(connection, transact, { blocks: true });
}
