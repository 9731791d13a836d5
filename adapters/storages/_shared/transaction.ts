import { type CreateOutcome, StorageBusy } from '../../../src/index.js';
import { Uncommitted, UnknownOutcome } from './meaning.js';
import { Rejection } from './rejection.js';

/** The steps of a transaction on one connection. */
export interface Transaction {
  /** @throws {OpenTransaction} if the connection came with one */
  begin(): Promise<unknown>;
  commit(): Promise<unknown>;
  rollBack(): Promise<unknown>;
}

/**
 * Inserts rows in one transaction, and ends it: `rollBack` leaves nothing, as of a trial.
 *
 * @param insert inserts rows, and asks what is stored: an Error of a row that is not
 * @throws {Rejection} if a row is not stored after its INSERT
 * @throws {Uncommitted} if anything failed before the COMMIT
 */
export async function inTransaction(
  transaction: Transaction,
  insert: () => Promise<CreateOutcome[]>,
  end: 'commit' | 'rollBack',
): Promise<CreateOutcome[]> {
  await transaction.begin().catch((error) => {
    throw error instanceof StorageBusy ? error : new Uncommitted(error, false);
  });
  let outcomes: CreateOutcome[];
  try {
    outcomes = await insert();
    const lost = outcomes.find((outcome) => outcome instanceof Error);
    if (lost) throw new Rejection('rejected', lost);
  } catch (error) {
    const isAlive = await transaction.rollBack().then(
      () => true,
      () => false,
    );
    if (isAlive && error instanceof Rejection) throw error;
    // Nothing is committed: the outcome is known.
    throw new Uncommitted(error instanceof UnknownOutcome ? error.cause : error, isAlive);
  }
  await transaction[end]();
  return outcomes;
}
