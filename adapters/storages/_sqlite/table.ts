import { ownWords } from '../../../src/for-storages.js';
import type { CreateOutcome } from '../../../src/index.js';
import { type Column, changeOf, type LearnedTable, learn, unseenTable } from '../_shared/columns.js';
import { failureOf, type Meaning, OpenTransaction } from '../_shared/meaning.js';
import { missingTable, Rejection, reasonOf, unusable } from '../_shared/rejection.js';
import { outcomesOf, type Row, type Rows, textOf } from '../_shared/rows.js';
import type { CheckReport, StoredTable } from '../_shared/sql-storage.js';
import type { TableSpec } from '../_shared/table.js';
import { samplesOf, tryOut } from '../_shared/try-out.js';
import { failedHandle, type Needed } from '../_shared/wrong-handle.js';
import { type FoundRow, SqliteConnection, type SqliteDatabase } from './connection.js';
import { meaningOfBegin, meaningOfCommit, meaningOfInsert } from './errors.js';
import { lostPlant, noFile, remedyOf, triggersOf, wrongEncoding } from './remedies.js';
import { jsonOf, statementsOf } from './statements.js';

export const needed: Needed = {
  storage: 'sqliteStorage',
  what: 'an open database of a synchronous driver (others are for sqliteAsyncStorage of plant-store/sqlite-async)',
  remedy: "pass new Database('plants.db')",
};

const iterating = 'the app is reading rows on the connection';

/** What was done when an error was thrown. */
type Step = 'begin' | 'insert' | 'commit';

/** A table of a database that may have other connections, in this process and in others. */
export class SqliteTable implements StoredTable {
  /** What a look has found. */
  #known: LearnedTable | undefined;
  readonly #connection: SqliteConnection;
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor(
    readonly database: SqliteDatabase,
    readonly spec: TableSpec,
  ) {
    this.#connection = new SqliteConnection(database);
    this.#sql = statementsOf(spec);
  }

  insert(rows: Rows): CreateOutcome[] {
    const insert = () => {
      const change = changeOf(this.#look() ?? unseenTable, rows);
      if (change) throw change;
      return this.#insert(rows);
    };
    return this.#inTransaction(insert, 'COMMIT', rows);
  }

  async find(key: Row): Promise<Record<string, unknown> | undefined> {
    try {
      // Nothing is stored under a key that a column would change.
      if (changeOf(this.#look() ?? unseenTable, [key])) return undefined;
      return this.#all(this.#sql.find, [key])[0];
    } catch (error) {
      throw this.#failureOf(meaningOfInsert(error), error);
    }
  }

  async createTable(): Promise<void> {
    try {
      // Throws if there is a table that cannot be used: IF NOT EXISTS would pass over it.
      this.#look();
    } catch (error) {
      throw reasonOf(error);
    }
    this.#connection.exec(this.spec.schema);
  }

  async check(): Promise<CheckReport> {
    this.#known = undefined;
    try {
      const learned = this.#look();
      if (!learned) throw unusable(this.spec, missingTable(this.spec));
      return await tryOut(this.spec, learned, {
        insertAndRollBack: (rounds) => this.#insertAndRollBack(rounds),
        isRejection: () => false,
      });
    } catch (error) {
      throw reasonOf(error);
    }
  }

  /** Inserts each of these rows, and leaves nothing of it. */
  #insertAndRollBack(rounds: readonly Rows[]): CreateOutcome[][] {
    const outcomes: CreateOutcome[][] = [];
    this.#inTransaction(() => {
      for (const rows of rounds) outcomes.push(this.#insert(rows));
    }, 'ROLLBACK');
    return outcomes;
  }

  /**
   * Runs a task in a transaction, even if it is a single statement: BEGIN fails if the app has a transaction open.
   *
   * @param sent the rows that it inserts
   */
  #inTransaction<T>(task: () => T, end: 'COMMIT' | 'ROLLBACK' = 'COMMIT', sent: Rows = []): T {
    let step: Step = 'begin';
    try {
      this.#connection.exec('BEGIN IMMEDIATE');
      step = 'insert';
      const result = task();
      step = 'commit';
      this.#connection.exec(end);
      return result;
    } catch (error) {
      throw this.#failureAt(step, error, sent);
    }
  }

  /** Ends the transaction after an error; returns what to throw. */
  #failureAt(step: Step, error: unknown, sent: Rows): unknown {
    if (step === 'begin') {
      const meaning = meaningOfBegin(error, this.#connection.isClosed, this.#known !== undefined);
      // better-sqlite3 reports a connection that is iterating by a TypeError. Wrapped, because a TypeError is never retried.
      const isBusy = meaning === 'conflict' && error instanceof TypeError;
      return this.#failureOf(meaning, isBusy ? ownWords(new Error(iterating, { cause: error })) : error);
    }
    const isRolledBack = this.#connection.rollBack();
    if (step === 'insert') return this.#failureOf(meaningOfInsert(error), error);
    // SQLite rolls back by itself if it has to, as on a full disk: then none of the rows is stored.
    const isStored = !isRolledBack && this.#mayBeStored(sent);
    return this.#failureOf(isStored ? 'unknown' : meaningOfCommit(error), error);
  }

  /** Whether a COMMIT may have worked. Its transaction had each of the rows: unless all are there, it was rolled back. */
  #mayBeStored(rows: Rows): boolean {
    try {
      return rows.length > 0 && this.#all(this.#sql.stored, rows).length === rows.length;
    } catch {
      return true;
    }
  }

  #failureOf(meaning: Meaning, error: unknown): unknown {
    if (error instanceof Rejection) return error;
    switch (meaning) {
      case 'setup':
      case 'setup, or of a plant':
        return this.#faultAfter(error);
      case 'program':
        return unusable(this.spec, failedHandle(this.database, error, needed), error);
      case 'no login':
        return unusable(this.spec, noFile, error);
      case 'open transaction':
        return new OpenTransaction(error, 'give plant-store its own connection');
      default:
        return failureOf(meaning, error);
    }
  }

  #insert(rows: Rows): CreateOutcome[] {
    const isCounted = rows.length === 1 && this.spec.isPlain && this.#known?.hasTriggers === false;
    const inserted = isCounted ? this.#insertOne(rows[0]!) : this.#all(this.#sql.insert, rows);
    const areAllNew = inserted.length === rows.length;
    if (areAllNew && (isCounted || this.#areStored(rows))) return rows.map(() => 'created');
    const outcomes = outcomesOf(rows, inserted, this.#all(this.#sql.stored, rows));
    if (!outcomes.some((outcome) => outcome instanceof Error)) return outcomes;
    throw new Rejection('rejected', lostPlant(this.spec, triggersOf(this.#connection, this.spec)));
  }

  /**
   * Inserts a lone plant without JSON, in two thirds of the time. Returns the row that it has inserted, without a key: only where there
   * is none are keys compared. Not for a table with triggers: they can move the row.
   */
  #insertOne(row: Row): FoundRow[] {
    return this.#connection.run(this.#sql.insertOne, ...row.map(textOf)) > 0 ? [{}] : [];
  }

  /** Whether rows that RETURNING has shown are stored: a trigger, or a further row of the batch, may have removed one. */
  #areStored(rows: Rows): boolean {
    const [stored] = this.#all(this.#sql.storedCount, rows);
    return Number(stored?.count) === rows.length;
  }

  /**
   * Learns what SQLite shows of the table; `undefined` if there is none.
   *
   * @throws {Rejection} if a column is missing, or would change the values that it is given
   */
  #look(): LearnedTable | undefined {
    if (this.#known) return this.#known;
    const columns = this.#connection.query('SELECT name, type FROM pragma_table_info(?)', this.spec.table);
    if (columns.length === 0) return undefined;
    const [{ encoding } = {}] = this.#connection.query('SELECT encoding FROM pragma_encoding');
    if (encoding !== 'UTF-8') throw unusable(this.spec, wrongEncoding(encoding));
    const hasTriggers = triggersOf(this.#connection, this.spec).length > 0;
    this.#known = learn(this.spec, columns as unknown as Column[], hasTriggers);
    return this.#known;
  }

  /** Looks why a create fails: because of the table, if a plant that has all values fails likewise, or because of its plant. */
  #faultAfter(error: unknown): Rejection {
    this.#known = undefined;
    let found: unknown;
    try {
      const learned = this.#look();
      if (!learned) return unusable(this.spec, missingTable(this.spec), error);
      const [rows = []] = samplesOf(this.spec, learned, 'usual');
      found = this.#connection.errorOf(() => this.#all(this.#sql.insert, rows));
    } catch (fault) {
      return fault instanceof Rejection ? fault : new Rejection('rejected', error);
    }
    const isOfTable = found !== undefined && meaningOfInsert(found) === 'setup, or of a plant';
    if (!isOfTable) return new Rejection('rejected', error);
    return unusable(this.spec, remedyOf(this.#connection, this.spec, found), error);
  }

  #all(sql: string, rows: Rows): FoundRow[] {
    return this.#connection.all(sql, jsonOf(rows));
  }
}
