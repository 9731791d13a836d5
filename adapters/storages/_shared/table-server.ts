import type { CreateOutcome } from '../../../src/index.js';
import type { Pool } from './checkout.js';
import type { LearnedTable } from './columns.js';
import type { Meaning } from './meaning.js';
import type { Row, Rows } from './rows.js';

/** What an error means, and whether its connection can be used again: otherwise it may still hold half a response. */
export interface Explanation {
  readonly meaning: Meaning;
  readonly isReusable: boolean;
  /** Whether a function of the app raised it, such as a trigger: it then says nothing of the connection. */
  readonly isOfFunction?: boolean;
}

/** The statements of one table, as the database shows it. */
export interface TableStatements<Connection> {
  insert(connection: Connection, rows: Rows): Promise<CreateOutcome[]>;
  /** Does what `insert` does, with no row: it fails as `insert` would for any row. */
  insertNothing(connection: Connection): Promise<unknown>;
  /** Inserts rows, and then others, in a transaction that it rolls back. Absent from a handle that has none. */
  readonly insertAndRollBack?: (
    connection: Connection,
    rounds: readonly Rows[],
  ) => Promise<CreateOutcome[][]>;
  find(connection: Connection, key: Row): Promise<Record<string, unknown> | undefined>;
}

/** One table on a database server. */
export interface TableServer<Connection> extends Pool<Connection> {
  /** Returns what is wrong with the app's pool after a fault of a program, in a sentence. */
  failedHandle(error: unknown): string;
  /** @param wasSent `false` if the error came before the task's own statement: from a login, or from a look at the table */
  explain(error: unknown, wasSent: boolean): Explanation;
  /**
   * Learns what the database shows of the table; `undefined` if there is none.
   *
   * @throws {Rejection} if the table would change or lose plants
   */
  look(connection: Connection): Promise<LearnedTable | undefined>;
  statementsFor(table: LearnedTable): TableStatements<Connection>;
  /**
   * Returns what is wrong with the table or the grants after an error of a statement, and what to do, in a sentence.
   *
   * @param isFound `false` if a look has found no table
   */
  remedyOf(error: unknown, isFound: boolean): string | undefined;
  createTable(connection: Connection): Promise<unknown>;
  /** Returns why this role cannot create the table, and what to do, in a sentence. */
  remedyOfCreate(error: unknown): string | undefined;
}
