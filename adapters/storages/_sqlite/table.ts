import { OwnError, withCauses } from '../../../src/for-storages.js';
import type { CreateOutcome } from '../../../src/index.js';
import type { LearnedTable } from '../_shared/columns.js';
import { failureOf, OpenTransaction, UnknownOutcome } from '../_shared/meaning.js';
import { Rejection, unusable } from '../_shared/rejection.js';
import { outcomesOf, type Row, type Rows, textOf } from '../_shared/rows.js';
import type { TableSpec } from '../_shared/table.js';
import type { TableServer, TableStatements } from '../_shared/table-server.js';
import { failedHandle, type Needed, WrongResult } from '../_shared/wrong-handle.js';
import { Failed, type SqliteClient, type Statement } from './client.js';
import { isLock, meaningOf } from './codes.js';
import { Facts, noFile } from './facts.js';
import { RowsStatement, RowsText, statementsOf } from './statements.js';

export const needed: Needed = {
  storage: 'sqliteStorage',
  what: 'a database, a client or a binding of SQLite',
  remedy: "pass new Database('plants.db'), createClient({ url }), env.DB or ctx.storage",
};

/** @param lacks what an object lacks that is nearly a handle */
export const neededBeside = (lacks: string): Needed => ({
  ...needed,
  remedy: `it has no ${lacks}. Else ${needed.remedy}`,
});

/** A table of SQLite. It has no connections of its own: each call is a transaction of the handle, and throws what its error means. */
export class SqliteTable implements TableServer<SqliteClient> {
  readonly #sql: ReturnType<typeof statementsOf>;
  readonly #facts: Facts;
  /** The errors that pass when another connection, or the app, ends what it does. */
  readonly #locks = new WeakSet<object>();

  constructor(
    readonly handle: object,
    readonly client: SqliteClient,
    readonly spec: TableSpec,
  ) {
    this.#sql = statementsOf(spec);
    this.#facts = new Facts(client, spec);
  }

  get endsInOneTurn(): boolean {
    return this.client.counts;
  }

  /** Whether an error passes when another connection, or the app, ends what it does. */
  isLocked(error: unknown): boolean {
    return withCauses(error).some((each) => this.#locks.has(each));
  }

  async connect(): Promise<SqliteClient> {
    return this.client;
  }

  release(): void {}

  /** What has no other class leaves open what is stored. */
  explain() {
    return { meaning: 'unknown', keepsConnection: true } as const;
  }

  failedHandle(error: unknown): string {
    return failedHandle(this.handle, error, needed);
  }

  remedyOf(): undefined {}

  remedyOfCreate(): undefined {}

  look(): Promise<LearnedTable | undefined> {
    return this.#explained(this.#facts.look());
  }

  createTable(): Promise<unknown> {
    const create = { sql: this.spec.schema, args: [], hasNoRows: true };
    return this.#explained(this.#facts.warnOfLocks().then(() => this.client.commit([create])));
  }

  statementsFor({ hasTriggers, columns }: LearnedTable): TableStatements<SqliteClient> {
    // Not of a table that was not seen. A trigger can move the row.
    const isCounted = this.client.counts && this.spec.isPlain && columns.length > 0 && !hasTriggers;
    return {
      insert: (_, rows) => this.#explained(this.#insert(rows, isCounted && rows.length === 1), rows),
      insertNothing: () => this.#explained(this.#facts.tryToInsert([])),
      insertAndRollBack: (_, rows) => this.#explained(this.#tryOut(rows)),
      find: async (_, key) => {
        const [[found] = []] = await this.#explained(
          this.client.commit([new RowsStatement(this.#sql.find, new RowsText([key]))]),
        );
        return found;
      },
    };
  }

  async #insert(rows: Rows, isCounted: boolean): Promise<CreateOutcome[]> {
    const text = new RowsText(rows);
    const insert: Statement[] = isCounted ? [this.#insertOne(rows[0]!)] : this.#insertAll(text);
    insert.push(new RowsStatement(this.#sql.stored, text, 1, true));
    const found = await this.client.commit(insert).catch((error) => this.#throwOf(error, rows));
    const inserted = found[0]!;
    if (inserted.length === rows.length) return rows.map(() => 'created');
    const outcomes = outcomesOf(rows, inserted, found.at(-1)!);
    if (outcomes.some((outcome) => outcome instanceof Error)) throw await this.#facts.lost();
    return outcomes;
  }

  /** Inserts these rows, and leaves nothing of it. */
  async #tryOut(rows: Rows): Promise<CreateOutcome[]> {
    const advice = await this.#facts.adviceOfLocks();
    if (advice) throw unusable(this.spec, advice);
    const inserts = this.#insertAll(new RowsText(rows));
    await this.client.tryOut(inserts).catch((error) => {
      const isReplica = this.client.lockTimeout && !this.client.resultOf(error.cause);
      if (isReplica) throw unusable(this.spec, ofReplica, error.cause);
      return this.#throwOf(error, rows);
    });
    // No COMMIT would check it.
    const guard = await this.#facts.guardOfForeignKeys();
    if (guard)
      await this.client.tryOut([...inserts, guard]).catch(({ cause }) => {
        throw new Rejection(
          'rejected',
          new OwnError('at its COMMIT, a foreign key would reject it', { cause }),
        );
      });
    // Each of them is stored once.
    return rows.map(() => 'created');
  }

  /**
   * Inserts a lone plant without JSON, in two thirds of the time. Its row has no key: only where there is none are keys compared.
   */
  #insertOne(row: Row): Statement {
    return { sql: this.#sql.insertOne, args: row.map(textOf), hasNoRows: true };
  }

  /** Inserts rows, and fails unless each is stored once: a trigger may move or drop what RETURNING has shown. */
  #insertAll(rows: RowsText): Statement[] {
    return [new RowsStatement(this.#sql.insert, rows), new RowsStatement(this.#sql.guard, rows, 2)];
  }

  /** Throws the error of statements that insert rows, and fail if one is not stored: if those alone work, it is that. */
  async #throwOf(error: Failed, rows: Rows): Promise<never> {
    const { step, cause } = error;
    const result = this.client.resultOf(cause);
    // Of a database in this process whose errors have no result, it may be any.
    const isAny = !result && step === 'statement' && !(cause instanceof WrongResult);
    const mayBeLost = result === 'SQLITE_TOOBIG' || isAny;
    const isLost =
      mayBeLost &&
      (await this.#facts.tryToInsert(rows).then(
        () => true,
        () => false,
      ));
    throw isLost ? await this.#facts.lost() : error;
  }

  /** Throws what the error of a transaction means of its rows. */
  async #explained<T>(task: Promise<T>, rows?: Rows): Promise<T> {
    try {
      return await task;
    } catch (error) {
      throw error instanceof Failed ? await this.#failureOf(error, rows) : error;
    }
  }

  async #failureOf({ cause, step }: Failed, rows: Rows = []): Promise<unknown> {
    const meaning = meaningOf(cause, step, this.client);
    switch (meaning) {
      case 'doubt':
        return this.#afterDoubt(cause, rows);
      case 'table or plant':
        return (await this.#facts.faultOf(cause)) ?? this.#conflict(cause, 'begin');
      case 'file':
        return unusable(this.spec, noFile, cause);
      case 'program':
        return unusable(this.spec, this.failedHandle(cause), cause);
      case 'open transaction':
        return new OpenTransaction(cause, 'give plant-store its own connection');
      case 'conflict':
        return this.#conflict(cause, step);
      case 'unknown':
        // Nothing of a plant was sent.
        return rows.length > 0 ? cause : failureOf('conflict', cause);
      default:
        return failureOf(meaning, cause);
    }
  }

  #conflict(cause: unknown, step: Failed['step']): unknown {
    const isNamed = step !== 'begin' || this.client.resultOf(cause);
    // better-sqlite3 throws a TypeError while the app is reading rows, and a TypeError is never retried.
    const given = isNamed ? cause : new OwnError(isUnusable, { cause });
    if (isLock(cause, step, this.client)) this.#locks.add(Object(given));
    return failureOf('conflict', given);
  }

  /** Returns what to throw after an error of COMMIT. Its transaction had each of the rows: unless all are there, it was rolled back. */
  async #afterDoubt(cause: unknown, rows: Rows): Promise<unknown> {
    const isRolledBack =
      rows.length === 0 ||
      (await this.client.commit([new RowsStatement(this.#sql.stored, new RowsText(rows))]).then(
        ([stored]) => stored !== undefined && stored.length < rows.length,
        () => false,
      ));
    if (isRolledBack) return this.#failureOf(new Failed('statement', cause), rows);
    return new UnknownOutcome('a COMMIT has failed, and the plants of its batch are stored', { cause });
  }
}

const ofReplica =
  'the client tells no result of SQLite, as that of an embedded replica does. Pass a client of its primary, without syncUrl';

const isUnusable = 'the connection runs no statement: it is closed, or the app is reading rows on it';
