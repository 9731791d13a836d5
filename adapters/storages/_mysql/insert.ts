import type { CreateOutcome } from '../../../src/index.js';
import { Uncommitted } from '../_shared/meaning.js';
import { Rejection } from '../_shared/rejection.js';
import { LostRow, type Rows } from '../_shared/rows.js';
import { type MysqlConnection, queryRows, run, runWithin } from './connection.js';
import { duplicateKey, serverErrorIn } from './errors.js';
import type { Statements } from './statements.js';
import { sentTo } from './statements.js';

type Run = typeof run | typeof runWithin;

/**
 * Plain INSERTs, all or nothing. IGNORE truncates, and on Galera lets two instances win one id. ON DUPLICATE KEY does
 * not say which row was new.
 */
export async function insert(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
): Promise<CreateOutcome[]> {
  try {
    await insertAll(connection, sql, rows, run);
    return rows.map(() => 'created');
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // Whether the app has a transaction open, whose rows it can still roll back: a SELECT does not show that.
    await run(connection, 'DO 0', [], true);
    return withoutTaken(connection, sql, rows, error, (others) => insert(connection, sql, others));
  }
}

/**
 * The same for a table with triggers, in a transaction in which it asks what is stored.
 *
 * @throws {Uncommitted} if it failed before its COMMIT
 */
export async function insertInTransaction(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
): Promise<CreateOutcome[]> {
  await begin(connection);
  try {
    await insertAll(connection, sql, rows, runWithin);
    const stored = await placesOfStored(connection, sql, rows);
    if (stored.size < rows.length) throw new Rejection('rejected', new LostRow());
  } catch (error) {
    const isAlive = await rollBack(connection);
    if (isAlive && error instanceof Rejection) throw error;
    if (!isAlive || !isDuplicate(error)) throw new Uncommitted(error, isAlive);
    return withoutTaken(connection, sql, rows, error, (others) =>
      insertInTransaction(connection, sql, others),
    );
  }
  await connection.query('COMMIT');
  return rows.map(() => 'created');
}

/** Inserts each of these rows, and leaves nothing of it. */
export async function insertAndRollBack(
  connection: MysqlConnection,
  sql: Statements,
  rounds: readonly Rows[],
): Promise<CreateOutcome[][]> {
  const outcomes: CreateOutcome[][] = [];
  await begin(connection);
  try {
    for (const rows of rounds) outcomes.push(await insertWithin(connection, sql, rows));
  } finally {
    await connection.query('ROLLBACK');
  }
  return outcomes;
}

/** Inserts rows in an open transaction, and asks what is stored. */
async function insertWithin(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
): Promise<CreateOutcome[]> {
  try {
    await insertAll(connection, sql, rows, runWithin);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return withoutTaken(connection, sql, rows, error, (others) => insertWithin(connection, sql, others));
  }
  const stored = await placesOfStored(connection, sql, rows);
  return rows.map((_, n) => (stored.has(n) ? 'created' : new LostRow()));
}

/** START TRANSACTION would commit what the app has open. */
async function begin(connection: MysqlConnection): Promise<void> {
  await run(connection, 'DO 0', [], true);
  await connection.query('START TRANSACTION');
}

function rollBack(connection: MysqlConnection): Promise<boolean> {
  return connection.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

const isDuplicate = (error: unknown) => serverErrorIn(error)?.errno === duplicateKey;

function insertAll(connection: MysqlConnection, sql: Statements, rows: Rows, runStatement: Run) {
  return runStatement(connection, sql.insert(rows.length), rows.flat().map(sentTo), rows.length === 1);
}

/** After a duplicate key: asks which rows are stored, and inserts the others. */
async function withoutTaken(
  connection: MysqlConnection,
  sql: Statements,
  rows: Rows,
  error: unknown,
  insertOthers: (rows: Rows) => Promise<CreateOutcome[]>,
): Promise<CreateOutcome[]> {
  const taken = await placesOfStored(connection, sql, rows);
  // Another unique index was violated, or by two plants of this batch.
  if (taken.size === 0) throw error;
  const others = rows.filter((_, n) => !taken.has(n));
  const outcomes = others.length > 0 ? await insertOthers(others) : [];
  return rows.map((_, n) => (taken.has(n) ? 'taken' : outcomes.shift()!));
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
