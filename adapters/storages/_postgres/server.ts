import type { CreateOutcome } from '../../../src/index.js';
import type { LearnedTable } from '../_shared/columns.js';
import { UnknownOutcome } from '../_shared/meaning.js';
import { keepsPrepared } from '../_shared/prepared.js';
import { outcomesOf, type Rows, textOf } from '../_shared/rows.js';
import type { TableSpec } from '../_shared/table.js';
import type { TableServer, TableStatements } from '../_shared/table-server.js';
import { inTransaction } from '../_shared/transaction.js';
import { failedHandle, type Needed } from '../_shared/wrong-handle.js';
import { explain, remedyOf, remedyOfCreate, serverErrorIn } from './errors.js';
import { look } from './look.js';
import {
  isPg,
  isPool,
  type PgClient,
  type PostgresPool,
  poolOf,
  transactionOn,
  withNotices,
} from './pool.js';
import { checkedRows, rowsOf } from './query.js';
import { type Statement, type Statements, statementsOf } from './statements.js';
import { warnOfTimeouts, warnOfTransactions } from './warnings.js';

export const needed: Needed = {
  storage: 'postgresStorage',
  what: 'a pg Pool, a PGlite or a connected Client',
  remedy: 'pass new pg.Pool(), or call await client.connect() first',
};

export function postgresServer(
  pool: PostgresPool,
  spec: TableSpec,
  timeoutMs = 10_000,
): TableServer<PgClient> {
  const runner = new InsertRunner(isPg(pool));
  const names = spec.columns.map(({ name }) => name);
  return {
    ...poolOf(pool),
    explain: (error) => explain(error, names),
    failedHandle: (error) => failedHandle(pool, error, needed),
    async look(client) {
      await runner.learn(client);
      const found = await look(client, spec);
      if (found) warnOfTimeouts(pool, found.timeout, timeoutMs);
      warnOfTransactions(pool, client);
      return found?.table;
    },
    statementsFor: (table) => tableStatements(pool, runner, spec, table),
    remedyOf: (error, table) => remedyOf(spec, error, table),
    createTable: (client) => client.query(spec.schema),
    remedyOfCreate: (error) => remedyOfCreate(spec, error),
  };
}

function tableStatements(
  pool: PostgresPool,
  runner: InsertRunner,
  spec: TableSpec,
  table: LearnedTable,
): TableStatements<PgClient> {
  // The one connection of an app may be used by the app at the same time.
  const hasTransactions = isPool(pool);
  const sql = statementsOf(spec, { ...table, hasTriggers: table.hasTriggers && !hasTransactions });
  const mayCount = isPg(pool) && !table.hasTriggers;
  // A COMMIT may fail that the driver does not wait for, as postgres.js before 3.4.8 did not.
  const mayReturnEarly = !isPg(pool) && table.checksAtCommit === true;
  // A trigger may change or remove a row after RETURNING: a second statement shows it.
  const isAsked = table.hasTriggers || mayReturnEarly;
  const insert = async (client: PgClient, rows: Rows): Promise<CreateOutcome[]> => {
    const isCounted = rows.length === 1 && mayCount;
    const result = isCounted
      ? await runner.run(client, sql.insertOne, sql.valuesOf(rows[0]!))
      : await runner.run(client, sql.insert, sql.arraysOf(rows));
    const inserted: Inserted = isCounted ? countedRows(result) : checkedRows(result);
    if (inserted.length === rows.length && !isAsked) return rows.map(() => 'created');
    // Triggers that wait for the COMMIT run now.
    if (hasTransactions && table.checksAtCommit) await client.query(checkNow);
    return outcomesAmong(client, { spec, sql, isAsked }, rows, inserted);
  };
  const insertChecked = async (client: PgClient, rows: Rows) => {
    const outcomes = await insert(client, rows);
    // A trigger may write another table, whose constraints wait for the COMMIT.
    if (table.checksAtCommit || table.hasTriggers) await client.query(checkNow);
    return outcomes;
  };
  const transact = (client: PgClient, rows: Rows, end: 'commit' | 'rollBack') =>
    inTransaction(transactionOn(client), () => insertChecked(client, rows), end);
  return {
    async insert(client, rows) {
      if (hasTransactions && isAsked) return transact(client, rows, 'commit');
      const outcomes = await withNotices(client, hasTransactions, () => insert(client, rows));
      if (mayReturnEarly && outcomes.some((outcome) => outcome instanceof Error)) throw returnedEarly();
      return outcomes;
    },
    insertNothing: (client) => runner.run(client, sql.insert, sql.arraysOf([])),
    ...(hasTransactions && { insertAndRollBack: (client, rows) => transact(client, rows, 'rollBack') }),
    find: async (client, key) => (await rowsOf(client, sql.find, key.map(textOf)))[0],
  };
}

/** There is no such statement, or another one of its name: a pooler has changed the connection, or the app reset it. */
const notPrepared = ['26000', '42P05'];

/** Asks how long this very statement is, as the server got it. */
const askLength = 'SELECT length(current_query())::text AS length';

/** Runs INSERTs, by their names if the connection keeps them prepared. */
class InsertRunner {
  #isNaming: boolean;

  /** @param canName whether the clients take a statement with a name */
  constructor(canName: boolean) {
    this.#isNaming = canName;
  }

  /** Learns whether texts arrive as they are sent: `pg` takes two texts of one name, as of a pool that adds comments, for a mistake. */
  async learn(client: PgClient): Promise<void> {
    if (!this.#isNaming) return;
    // A database of the same family may have no such function; of a lost connection the look that follows tells.
    const [{ length } = {}] = await rowsOf(client, askLength, []).catch(() => []);
    this.#isNaming = length === undefined || length === String(askLength.length);
  }

  run(client: PgClient, { name, text }: Statement, values: (string | null)[]): Promise<QueryResult> {
    if (!this.#isNaming || !keepsPrepared(client, name)) return client.query(text, values);
    return client.query({ name, text, values }).catch((error) => {
      const said = serverErrorIn(error);
      // A trigger may raise the same: then the INSERT has run.
      if (!said || said.isOfFunction || !notPrepared.includes(said.sqlState)) throw error;
      // Nothing has run. The next statements would fail as well, so none is named from now on.
      this.#isNaming = false;
      return client.query(text, values);
    });
  }
}

const returnedEarly = () =>
  new UnknownOutcome('a plant that the INSERT has returned is not stored: its COMMIT has failed');

/** Checks what waits for the COMMIT, and runs the triggers that do. */
const checkNow = 'SET CONSTRAINTS ALL IMMEDIATE';

type QueryResult = Awaited<ReturnType<PgClient['query']>>;

/** The rows that an INSERT has returned; of `insertOne` as many as it has inserted, without a key. */
type Inserted = readonly { readonly key?: string }[];

/** The rows of `insertOne`, by their count. They have no key: only where there are none are keys compared. */
function countedRows({ rowCount }: QueryResult): Inserted {
  return rowCount === 1 ? [{}] : [];
}

/**
 * Returns which rows the INSERT of a table without triggers has created, by the keys that it has returned; all others are taken.
 * `undefined` if the keys do not show it: two of a namespace may be one to the database, and an id may be spelt in another way.
 */
function outcomesBy(inserted: Inserted, rows: Rows, { key }: TableSpec): CreateOutcome[] | undefined {
  const created = new Set(inserted.map((row) => row.key));
  if (created.size > 0 && key.length > 1) return undefined;
  const outcomes = rows.map(([id]): CreateOutcome => (created.delete(String(id)) ? 'created' : 'taken'));
  return created.size === 0 ? outcomes : undefined;
}

/** Asks which of the plants are stored. */
async function outcomesAmong(
  client: PgClient,
  { spec, sql, isAsked }: { spec: TableSpec; sql: Statements; isAsked: boolean },
  rows: Rows,
  inserted: Inserted,
): Promise<CreateOutcome[]> {
  try {
    const outcomes = outcomesOf(rows, inserted, await rowsOf(client, sql.stored, sql.arraysOf(rows)));
    if (isAsked || outcomes.every((outcome) => typeof outcome === 'string')) return outcomes;
    // A standby that is behind has answered: without triggers, what was not inserted was there. Or a trigger is new.
    const now = await look(client, spec);
    return (now?.table.hasTriggers === false && outcomesBy(inserted, rows, spec)) || outcomes;
  } catch (cause) {
    // To send the plants again would find their own ids taken.
    throw new UnknownOutcome('it is unknown which of the plants were new', { cause });
  }
}
