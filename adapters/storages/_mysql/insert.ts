import type { CreateOutcome } from '../../../src/index.js';
import { Uncommitted } from '../_shared/meaning.js';
import { Rejection } from '../_shared/rejection.js';
import { LostRow, type Rows } from '../_shared/rows.js';
import { inTransaction } from '../_shared/transaction.js';
import {
  expectNoTransaction,
  type MysqlConnection,
  queryRows,
  run,
  runWithin,
  transactionOn,
} from './connection.js';
import { isDuplicate } from './errors.js';
import type { Statements } from './statements.js';
import { sentTo } from './statements.js';

/** Inserts rows, all or nothing: a duplicate key is an error. */
type InsertRows = (rows: Rows) => Promise<CreateOutcome[]>;

/**
 * Plain INSERTs, all or nothing. IGNORE truncates, and on Galera lets two instances win one id. ON DUPLICATE KEY does
 * not say which row was new.
 */
export function insert(connection: MysqlConnection, sql: Statements, rows: Rows): Promise<CreateOutcome[]> {
  const send: InsertRows = async (sent) => {
    await insertAll(connection, sql, sent, run).catch(async (error) => {
      if (isDuplicate(error)) await expectNoTransaction(connection);
      throw error;
    });
    return sent.map(() => 'created');
  };
  return insertNew(connection, sql, rows, send);
}

/** The same for a table with triggers, in a transaction in which it asks what is stored. */
export function insertInTransaction(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
): Promise<CreateOutcome[]> {
  // Rolled back before the next one: what it has locked and seen would be kept.
  const send: InsertRows = (sent) =>
    inTransaction(transactionOn(connection), () => insertAndAsk(connection, sql, sent), 'commit');
  return insertNew(connection, sql, rows, send);
}

/** Inserts each of these rows, and leaves nothing of it. */
export function insertAndRollBack(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
): Promise<CreateOutcome[]> {
  const insertThese = () => insertNew(connection, sql, rows, (sent) => insertAndAsk(connection, sql, sent));
  return inTransaction(transactionOn(connection), insertThese, 'rollBack');
}

function insertAll(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
  runStatement: typeof run | typeof runWithin,
) {
  return runStatement(connection, sql.insert(rows.length), rows.flat().map(sentTo), rows.length === 1);
}

/** Inserts rows in an open transaction, and asks what is stored. */
async function insertAndAsk(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
): Promise<CreateOutcome[]> {
  await insertAll(connection, sql, rows, runWithin);
  const stored = await placesOfStored(connection, sql, rows);
  return rows.map((_, n) => (stored.has(n) ? 'created' : new LostRow()));
}

/** Inserts rows. After a duplicate key, which leaves none of them, asks which are stored, and inserts the others. */
async function insertNew(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
  send: InsertRows,
): Promise<CreateOutcome[]> {
  try {
    return await send(rows);
  } catch (error) {
    const isLost = error instanceof Uncommitted && !error.isAlive;
    if (isLost || !isDuplicate(error)) throw error;
    const taken = await placesOfStored(connection, sql, rows);
    // By another unique index, or by two plants of this batch.
    if (taken.size === 0)
      throw new Rejection('rejected', error instanceof Uncommitted ? error.cause : error, sql.otherKey);
    const others = rows.filter((_, n) => !taken.has(n));
    const outcomes = others.length > 0 ? await insertNew(connection, sql, others, send) : [];
    return rows.map((_, n) => (taken.has(n) ? 'taken' : outcomes.shift()!));
  }
}

/** Asks which of the rows have a key that is stored, by their places. */
async function placesOfStored(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
): Promise<Set<number>> {
  const keys = rows.flatMap((row) => row.slice(0, sql.keyLength)).map(sentTo);
  const stored = await queryRows(connection, sql.stored(rows.length), keys, rows.length === 1);
  return new Set(stored.map(({ n }) => Number(n)));
}
