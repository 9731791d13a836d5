import type { CreateOutcome } from '../../../src/index.js';
import { OpenTransaction, Uncommitted, UnknownOutcome } from '../_shared/meaning.js';
import { Rejection } from '../_shared/rejection.js';
import type { Rows } from '../_shared/rows.js';
import { hearing, isInTransaction, type PgClient } from './pool.js';

/** Commits an INSERT if all that was sent is stored or taken. */
export async function inTransaction(
  client: PgClient,
  insert: () => Promise<CreateOutcome[]>,
): Promise<CreateOutcome[]> {
  await begin(client);
  let outcomes: CreateOutcome[];
  try {
    outcomes = await insert();
    const lost = outcomes.find((outcome) => outcome instanceof Error);
    if (lost) throw new Rejection('rejected', lost);
  } catch (error) {
    throw await endedBy(client, error);
  }
  await hearing(client, () => client.query('COMMIT'));
  return outcomes;
}

/** Inserts each of these rows, and leaves nothing of it. */
export async function rolledBack(
  client: PgClient,
  rounds: readonly Rows[],
  insert: (rows: Rows) => Promise<CreateOutcome[]>,
): Promise<CreateOutcome[][]> {
  await begin(client);
  const outcomes: CreateOutcome[][] = [];
  try {
    for (const rows of rounds) outcomes.push(await insert(rows));
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
  await client.query('ROLLBACK');
  return outcomes;
}

/** @throws {OpenTransaction} if the connection came with one */
async function begin(client: PgClient): Promise<void> {
  if (isInTransaction(client)) throw new OpenTransaction();
  await client.query('BEGIN');
}

/** Rolls back after an error; returns what to throw. */
async function endedBy(client: PgClient, error: unknown): Promise<unknown> {
  const isAlive = await client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
  const isKnown = error instanceof Rejection && isAlive;
  return isKnown ? error : new Uncommitted(error instanceof UnknownOutcome ? error.cause : error, isAlive);
}
