import type { CreateOutcome } from '../../../src/index.js';
import type { Pool } from './checkout.js';
import type { LearnedTable } from './columns.js';
import type { Meaning } from './meaning.js';
import type { Row, Rows } from './rows.js';

/** What an error means, and what it says of its connection. */
export interface Explanation {
  readonly meaning: Meaning;
  /** Whether it is surely about a plant or a statement, so that its connection can be used again. */
  readonly keepsConnection: boolean;
  /** Whether a function of the app raised it, such as a trigger: it then says nothing of a connection that has answered a ROLLBACK. */
  readonly isOfFunction?: boolean;
  /** Whether it shows by itself that each create fails so, whatever was done: then no INSERT of nothing is asked. */
  readonly isOfAll?: boolean;
}

/** What a code of the database means: a row of its `codes.ts`. */
export interface CodeRow extends Explanation {
  readonly code: string | number;
}

/** The statements of one table, as the database shows it. */
export interface TableStatements<Connection> {
  insert(connection: Connection, rows: Rows): Promise<CreateOutcome[]>;
  /** Does what `insert` does, with no row: it fails as `insert` would for any row. */
  insertNothing(connection: Connection): Promise<unknown>;
  /** Does what `insert` does, in a transaction that it rolls back. Absent from a handle that has none. */
  readonly insertAndRollBack?: (connection: Connection, rows: Rows) => Promise<CreateOutcome[]>;
  find(connection: Connection, key: Row): Promise<Record<string, unknown> | undefined>;
}

/** One table on a database server. */
export interface TableServer<Connection> extends Pool<Connection> {
  /** Returns what is wrong with the app's pool after a fault of a program, in a sentence. */
  failedHandle(error: unknown): string;
  /** Explains an error by itself; `meaningIn` knows what its phase makes of it. */
  explain(error: unknown): Explanation;
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
   * @param table as a look has found it, if it has
   */
  remedyOf(error: unknown, table: LearnedTable | undefined): string | undefined;
  createTable(connection: Connection): Promise<unknown>;
  /** Returns why this role cannot create the table, and what to do, in a sentence. */
  remedyOfCreate(error: unknown): string | undefined;
}
