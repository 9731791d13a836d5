import type { CreateOutcome } from '../../../src/index.js';
import { Uncommitted, UnknownOutcome } from '../_shared/meaning.js';
import { Rejection } from '../_shared/rejection.js';
import { type LostRow, outcomesOf, type Row, type Rows } from '../_shared/rows.js';
import type { TableSpec } from '../_shared/table.js';
import type { FoundRow } from './connection.js';
import { lostPlant } from './remedies.js';
import { jsonOf, statementsOf } from './statements.js';
import { DoubtfulCommit, type SqliteClient, type Statement } from './transactions.js';

/** A table of a SQLite that answers later. Whatever its triggers do, each batch asks in its own transaction what is stored. */
export class AskedTable {
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor(
    readonly client: SqliteClient,
    readonly spec: TableSpec,
  ) {
    this.#sql = statementsOf(spec);
  }

  async insert(rows: Rows): Promise<CreateOutcome[]> {
    try {
      const statements = [...this.#insertAll(rows), this.#statement('stored', rows)];
      const [inserted = [], , found = []] = await this.client.commit(statements);
      return outcomesOf(rows, inserted, found);
    } catch (error) {
      if (error instanceof DoubtfulCommit) throw await this.#afterDoubt(error.cause, rows);
      if (!(await this.#isLost(error, [rows]))) throw error;
      throw new Rejection('rejected', await this.#lostRow());
    }
  }

  /** Inserts each of these rows, and leaves nothing of it. */
  async insertAndRollBack(rounds: readonly Rows[]): Promise<CreateOutcome[][]> {
    try {
      await this.client.tryOut(rounds.flatMap((rows) => this.#insertAll(rows)));
    } catch (error) {
      if (!(await this.#isLost(error, rounds))) throw error;
      const lost = await this.#lostRow();
      return rounds.map((rows) => rows.map(() => lost));
    }
    // The second round has the ids of the first, and each of them is stored once.
    return rounds.map((rows, round) => rows.map(() => (round === 1 ? 'taken' : 'created')));
  }

  /** Inserts each of these rows, without a look at what becomes of them, and leaves nothing of it. */
  tryToInsert(rounds: readonly Rows[]): Promise<void> {
    return this.client.tryOut(rounds.map((rows) => this.#statement('insert', rows)));
  }

  async find(key: Row): Promise<FoundRow | undefined> {
    const [rows = []] = await this.client.commit([this.#statement('find', [key])]);
    return rows[0];
  }

  /** Inserts rows, and fails unless each is stored once: a trigger may move or drop what RETURNING has shown. */
  #insertAll(rows: Rows): Statement[] {
    const { sql, args } = this.#statement('guard', rows);
    return [this.#statement('insert', rows), { sql, args: [...args, ...args] }];
  }

  #statement(name: 'insert' | 'guard' | 'stored' | 'find', rows: Rows): Statement {
    return { sql: this.#sql[name], args: [jsonOf(rows)] };
  }

  /** Whether an error says that rows are inserted and not stored: then it is not of an INSERT. */
  async #isLost(error: unknown, rounds: readonly Rows[]): Promise<boolean> {
    // Its INSERT was not run.
    if (error instanceof Uncommitted && !error.isAlive) return false;
    const result = this.client.resultOf(error instanceof Uncommitted ? error.cause : error);
    const mayBe = result === 'SQLITE_TOOBIG' || (result === undefined && !this.client.isFarAway);
    if (!mayBe) return false;
    return this.#takes(rounds);
  }

  #takes(rounds: readonly Rows[]): Promise<boolean> {
    return this.tryToInsert(rounds).then(
      () => true,
      () => false,
    );
  }

  async #lostRow(): Promise<LostRow> {
    const sql = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE";
    const [found = []] = await this.client.commit([{ sql, args: [this.spec.table] }]);
    return lostPlant(
      this.spec,
      found.map(({ name }) => String(name)),
    );
  }

  /** Returns what to throw after an error of COMMIT. Its transaction had each of the rows: unless all are there, it was rolled back. */
  async #afterDoubt(cause: unknown, rows: Rows): Promise<unknown> {
    const isRolledBack = await this.client.commit([this.#statement('stored', rows)]).then(
      ([stored]) => stored !== undefined && stored.length < rows.length,
      () => false,
    );
    if (isRolledBack) return new Uncommitted(cause, true);
    return new UnknownOutcome('a COMMIT has failed, and the plants of its batch are stored', { cause });
  }
}
