import { type Column, type LearnedTable, learn } from '../_shared/columns.js';
import {
  missingIndex,
  missingTable,
  passTable,
  Rejection,
  unfilledColumn,
  unusable,
} from '../_shared/rejection.js';
import { LostRow, type Rows } from '../_shared/rows.js';
import type { TableSpec } from '../_shared/table.js';
import { Failed, type FoundRow, type SqliteClient, type Statement } from './client.js';
import { meaningOf } from './codes.js';
import { columnsOfTable, RowsStatement, RowsText, statementsOf } from './statements.js';

/** What is wrong with a file that cannot be used. */
export const noFile = 'SQLite cannot use its file. Open a database file that may be written';

const noTable = `it is a view or a virtual table, in which SQLite keeps no id unique. ${passTable}`;

const wrongEncoding = (encoding: unknown) =>
  `its database is in ${encoding}, which changes U+FFFE and U+FFFF. Copy it to one that is in UTF-8, the default`;

const noTimeout =
  'the client of @libsql/client waits for no lock of another process, and may then fail until it is closed: createClient({ url, timeout: 5_000 })';

let hasWarned = false;

/** What SQLite's catalogue says of a table: asked when it is looked at, and after an error that may be the table's. */
export class Facts {
  constructor(
    readonly client: SqliteClient,
    readonly spec: TableSpec,
  ) {}

  /**
   * Learns the columns of a table; `undefined` if there is none.
   *
   * @throws {Rejection} if plants would change, or no create can succeed
   */
  async look(): Promise<LearnedTable | undefined> {
    const { spec } = this;
    const [columns, isOfMain] = await this.#columns();
    if (isOfMain === false) throw unusable(spec, noTable);
    if (columns.length === 0) return undefined;
    const encoding = await this.#encoding();
    if (encoding !== 'UTF-8') throw unusable(spec, wrongEncoding(encoding));
    // Elsewhere each batch asks what is stored.
    const hasTriggers = this.client.counts && (await this.#triggers()).length > 0;
    const learned = learn(spec, columns as unknown as Column[], hasTriggers);
    const names = spec.columns.map(({ name }) => name.toLowerCase());
    const unfilled = columns.find(
      ({ name, isUnfilled }) => isUnfilled && !names.includes(String(name).toLowerCase()),
    );
    // A trigger of SQLite cannot fill it.
    if (unfilled) throw unusable(spec, unfilledColumn(unfilled.name));
    await this.warnOfLocks();
    return learned;
  }

  /** Returns what to change where a client of a file is made, if it does not wait for the lock of another process. */
  async adviceOfLocks(): Promise<string | undefined> {
    return (await this.client.lockTimeout?.()) === 0 ? noTimeout : undefined;
  }

  /** Warns of it, once a process. */
  async warnOfLocks(): Promise<void> {
    const advice = await this.adviceOfLocks();
    if (!advice || hasWarned) return;
    hasWarned = true;
    globalThis.process?.emitWarning(`plant-store: ${advice}`, { code: 'PLANT_STORE_SQLITE' });
  }

  /** Inserts rows, without a look at what becomes of them, and leaves nothing of it. */
  tryToInsert(rows: Rows): Promise<void> {
    const { insert } = statementsOf(this.spec);
    return this.client.tryOut([new RowsStatement(insert, new RowsText(rows))]);
  }

  /**
   * Returns the failure of an INSERT whose error may be of the table or of its plant: which of them, and a remedy if what it mends is
   * missing. `undefined` if nothing can be asked.
   */
  async faultOf(error: unknown): Promise<Rejection | undefined> {
    const { spec } = this;
    try {
      // Throws if a column is missing.
      if (!(await this.look())) return unusable(spec, missingTable(spec), error);
      const failure: Failed | undefined = await this.tryToInsert([]).then(
        () => undefined,
        (failed) => failed,
      );
      if (!failure) return new Rejection('rejected', error);
      // Such as a lock.
      if (meaningOf(failure.cause, failure.step, this.client) !== 'table or plant') return undefined;
      return unusable(spec, (await this.#missingKey()) ?? (await this.#unexplained(error)), error);
    } catch (found) {
      return found instanceof Rejection ? found : undefined;
    }
  }

  /** Returns the error of plants that are not stored after their INSERT. */
  async lost(): Promise<Rejection> {
    const triggers = await this.#triggers();
    const why = triggers.length
      ? `one of its triggers drops it or changes its id: ${triggers.join(', ')}`
      : 'one of its constraints is ON CONFLICT IGNORE';
    const text = `the table ${this.spec.name} does not have the plant after its INSERT: ${why}`;
    return new Rejection('rejected', new LostRow(text));
  }

  /** Its columns; and whether it is a table that keeps keys, if the main file has one of this name. */
  async #columns(): Promise<[FoundRow[], boolean | undefined]> {
    const args = [this.spec.table];
    const sql = "SELECT sql FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE";
    const objects = { sql, args };
    const [[object] = [], columns = []] = await this.client
      .commit([objects, { sql: columnsOfTable, args }])
      // As of a view whose table is gone.
      .catch(async (error) => {
        const found = await this.client.commit([objects]);
        if (/^CREATE VIEW/i.test(String(found[0]?.[0]?.sql))) return found;
        throw error;
      });
    return [columns, object && !/^CREATE (VIRTUAL|VIEW)/i.test(String(object.sql))];
  }

  /** Returns what is wrong if no unique index has exactly the key. */
  async #missingKey(): Promise<string | undefined> {
    const { table, columns, key } = this.spec;
    const sql =
      'SELECT list.name AS "index", info.name AS "column" FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info WHERE list."unique" AND NOT list.partial';
    const [[found, isOfMain], [indexes = []]] = [
      await this.#columns(),
      await this.client.commit([{ sql, args: [table] }]),
    ];
    const primary = found.filter(({ pk }) => Number(pk) > 0).map(({ name }) => name);
    const byIndex = new Map<unknown, unknown[]>();
    for (const { index, column } of indexes) byIndex.set(index, [...(byIndex.get(index) ?? []), column]);
    const spell = (names: readonly unknown[]) =>
      names
        .map((name) => String(name).toLowerCase())
        .sort()
        .join();
    const wanted = spell(columns.slice(0, key.length).map(({ name }) => name));
    const isThere = [primary, ...byIndex.values()].some((names) => spell(names) === wanted);
    if (isThere) return undefined;
    // In another file, the index has another name.
    return isOfMain ? missingIndex(this.spec) : `it needs a unique index of exactly (${key.join(', ')})`;
  }

  async #unexplained(error: unknown): Promise<string> {
    const [result, triggers] = [this.client.resultOf(error), await this.#triggers()];
    const why = triggers.length ? `. Check what its triggers name: ${triggers.join(', ')}` : '';
    return `an INSERT of no rows fails${result ? ` with ${result}` : ''}, although its columns and its unique index are there${why}`;
  }

  /**
   * Returns a statement that fails after an INSERT that broke a foreign key which waits for the COMMIT, if there is one: of the table, or of
   * another that its triggers may write.
   */
  async guardOfForeignKeys(): Promise<Statement | undefined> {
    const args = [this.spec.table, this.spec.table];
    const of = `FROM sqlite_master AS other, pragma_foreign_keys WHERE foreign_keys AND other.type = 'table'
AND other.sql LIKE '%INITIALLY%DEFERRED%' AND (other.name = ? COLLATE NOCASE
  OR EXISTS (SELECT 1 FROM sqlite_master AS work WHERE work.type = 'trigger' AND work.tbl_name = ? COLLATE NOCASE))`;
    const broken = of.replace(' WHERE', ', pragma_foreign_key_check(other.name) WHERE');
    if ((await this.#askAllowed({ sql: `SELECT 1 ${of}`, args })).length === 0) return undefined;
    const [{ count } = { count: 0 }] = await this.#askAllowed({
      sql: `SELECT count(*) AS count ${broken}`,
      args,
    });
    return {
      sql: `SELECT CASE WHEN count(*) > ${Number(count)} THEN zeroblob(9007199254740991) END ${broken}`,
      args,
    };
  }

  /** D1 and Durable Objects do not tell the encoding: theirs is UTF-8. */
  async #encoding(): Promise<unknown> {
    const [{ encoding } = { encoding: 'UTF-8' }] = await this.#askAllowed({
      sql: 'SELECT encoding FROM pragma_encoding',
      args: [],
    });
    return encoding;
  }

  /** Asks what some databases may not be asked. */
  async #askAllowed(question: Statement): Promise<FoundRow[]> {
    const [rows = []] = await this.client.commit([question]).catch((error) => {
      if (error instanceof Failed && this.client.resultOf(error.cause) === 'SQLITE_AUTH') return [];
      throw error;
    });
    return rows;
  }

  /** The names of the triggers of tables of this name: where the connection is the app's, in each of its files, and those it alone has. */
  async #triggers(): Promise<string[]> {
    const list = 'SELECT name FROM pragma_database_list';
    const [files = []] = this.client.counts ? await this.client.commit([{ sql: list, args: [] }]) : [];
    // The list has TEMP once it has something.
    const names = new Set([
      'main',
      ...(this.client.counts ? ['temp'] : []),
      ...files.map(({ name }) => String(name)),
    ]);
    const found = await this.client.commit(
      [...names].map((file) => ({
        sql: `SELECT name FROM "${file.replaceAll('"', '""')}".sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE`,
        args: [this.spec.table],
      })),
    );
    return found.flat().map(({ name }) => String(name));
  }
}
