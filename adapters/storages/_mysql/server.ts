import type { CreateOutcome } from '../../../src/index.js';
import { unseenTable } from '../_shared/columns.js';
import { UnknownOutcome } from '../_shared/meaning.js';
import { missingTable } from '../_shared/rejection.js';
import { lostRow, type Rows } from '../_shared/rows.js';
import type { TableServer } from '../_shared/server-table.js';
import type { TableSpec } from '../_shared/table.js';
import { failedHandle, type Needed } from '../_shared/wrong-handle.js';
import { type MysqlConnection, type MysqlPool, queryRows, run } from './connection.js';
import { sentTo } from './dialect.js';
import { duplicateKey, explain, isDenied, noDefault, serverErrorIn } from './errors.js';
import { look, unfilledOf } from './look.js';
import { type Statements, statementsOf } from './statements.js';

export const needed: Needed = {
  storage: 'mysqlStorage',
  what: 'a mysql2/promise pool',
  remedy: 'pass pool.promise(), or createPool of mysql2/promise',
};

export function mysqlServer(pool: MysqlPool, spec: TableSpec): TableServer<MysqlConnection> {
  return {
    connect: async () => pool.getConnection(),
    release: (connection, isReusable) => (isReusable ? connection.release() : connection.destroy()),
    explain,
    failedHandle: (error) => failedHandle(pool, error, needed),
    look: (connection) => look(connection, spec),
    statementsFor(table) {
      const sql = statementsOf(spec, table);
      return {
        async insert(connection, rows) {
          const outcomes = await insert(connection, sql, rows);
          return table.hasTriggers ? storedAmong(connection, sql, rows, outcomes) : outcomes;
        },
        insertNothing: (connection) => insertNothing(connection, sql),
        find: async (connection, key) => (await queryRows(connection, sql.find, key.map(sentTo), true))[0],
      };
    },
    faultOf: (connection, error) => faultOfTable(connection, spec, error),
    createTable: (connection) => run(connection, spec.schema),
    whyNotCreated: async (_connection, error) => (isDenied(error) ? grantOf(spec, 'CREATE') : undefined),
  };
}

/**
 * Plain INSERTs, all or nothing. IGNORE truncates, and on Galera lets two instances win one id. ON DUPLICATE KEY does
 * not say which row was new.
 */
async function insert(connection: MysqlConnection, sql: Statements, rows: Rows): Promise<CreateOutcome[]> {
  if (rows.length === 0) return [];
  const isLone = rows.length === 1;
  try {
    await run(connection, sql.insert(rows.length), rows.flat().map(sentTo), isLone);
    return rows.map(() => 'created');
  } catch (error) {
    if (serverErrorIn(error)?.errno !== duplicateKey) throw error;
    const taken = await takenAmong(connection, sql, rows);
    // Another unique index was violated, or by two plants of this batch.
    if (taken.size === 0) throw error;
    const others = rows.filter((_, n) => !taken.has(n));
    const outcomes = await insert(connection, sql, others);
    return rows.map((_, n) => (taken.has(n) ? 'taken' : outcomes.shift()!));
  }
}

/** Asks which of the rows have a key that is stored. */
async function takenAmong(connection: MysqlConnection, sql: Statements, rows: Rows): Promise<Set<number>> {
  // Whether the app has a transaction open, whose rows it can still roll back: a SELECT does not show that.
  await run(connection, 'DO 0', [], true);
  return placesOfStored(connection, sql, rows);
}

async function placesOfStored(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
): Promise<Set<number>> {
  const keys = rows.flatMap((row) => row.slice(0, sql.keyLength)).map(sentTo);
  const stored = await queryRows(connection, sql.stored(rows.length), keys, rows.length === 1);
  return new Set(stored.map(({ n }) => Number(n)));
}

/** Asks whether the plants are stored under their ids: an INSERT does not say what a trigger has changed. */
async function storedAmong(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
  outcomes: readonly CreateOutcome[],
): Promise<CreateOutcome[]> {
  const stored = await placesOfStored(connection, sql, rows).catch((cause) => {
    // To send the plants again would find their own ids taken.
    throw new UnknownOutcome('it is unknown whether a trigger has changed the plants', { cause });
  });
  return outcomes.map((outcome, n) => (stored.has(n) ? outcome : lostRow()));
}

async function insertNothing(connection: MysqlConnection, sql: Statements): Promise<void> {
  await run(connection, sql.insertNothing).catch((error) => {
    // Without a row no trigger runs that could fill the column: `unfilledOf` has judged that.
    if (serverErrorIn(error)?.errno !== noDefault) throw error;
  });
}

async function faultOfTable(
  connection: MysqlConnection,
  spec: TableSpec,
  error: unknown,
): Promise<string | undefined> {
  // A trigger may lack a grant on another table: so this one is asked.
  if (isDenied(error) && (await isDeniedAgain(connection, spec))) return grantOf(spec, 'SELECT, INSERT');
  const isMissing = serverErrorIn(error)?.errno === noSuchTable;
  const table = await look(connection, spec).catch((found) => {
    if (serverErrorIn(found)?.errno === noSuchTable) return undefined;
    throw found;
  });
  if (!table) return isMissing || error === undefined ? missingTable(spec) : undefined;
  return unfilledOf(connection, spec, serverErrorIn(error)?.errno === noDefault);
}

/** Whether the role lacks a grant on the table itself. */
async function isDeniedAgain(connection: MysqlConnection, spec: TableSpec): Promise<boolean> {
  const { insertNothing, find } = statementsOf(spec, unseenTable);
  try {
    await run(connection, insertNothing);
    await queryRows(
      connection,
      find,
      spec.key.map(() => '0'),
    );
    return false;
  } catch (error) {
    return isDenied(error);
  }
}

const noSuchTable = 1146;

function grantOf({ name, container }: TableSpec, grant: string): string {
  const on = grant === 'CREATE' ? `${container ? `\`${container}\`` : 'the database'}.*` : name;
  return `its user may not ${grant}. Run: GRANT ${grant} ON ${on} TO ...`;
}
