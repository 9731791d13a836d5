import { ownWords } from '../../../src/for-storages.js';
import { RolledBack, StorageBusy } from '../../../src/index.js';
import { Rejection, unusable } from './rejection.js';
import type { TableSpec } from './table.js';

/**
 * What an error says of the plants that were sent. `unknown`: they may or may not be stored. All others: nothing was stored,
 * and
 *
 * - `transient`: to send them again may help: a deadlock, a failover, no connection yet.
 * - `locked`: another transaction holds a lock that a plant needs.
 * - `expired`: the statement took too long.
 * - `rejected`: the database rejects a plant of the batch.
 * - `open transaction`: the connection came with a transaction of the app.
 * - `closed`: the app has closed the pool or the connection.
 * - `refused`: the server refuses the user, the password or the database for good, or SQLite the file.
 * - `setup`: the table may lack something that each create needs; a check of the table shows it. If that finds nothing, the
 *   table is not at fault, but one that a trigger needs: `rejected`.
 * - `statement`: the database does not understand a statement of plant-store.
 * - `program`: a fault of a program, such as an object that is no database.
 */
export type Meaning =
  | 'unknown'
  | 'transient'
  | 'locked'
  | 'expired'
  | 'rejected'
  | 'open transaction'
  | 'closed'
  | 'refused'
  | 'setup'
  | 'statement'
  | 'program';

/** A connection came with a transaction of the app: its plants would be stored or lost with that. Nothing was stored. */
export class OpenTransaction extends StorageBusy {
  constructor(cause?: unknown, remedy = 'end it before the release') {
    super(`the connection already has an open transaction: ${remedy}`, { cause });
    ownWords(this);
  }
}

/**
 * Which plants of a batch were new could not be asked: some are stored. Its cause is an error of that question, and so says
 * nothing of the plants.
 */
export class UnknownOutcome extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    ownWords(this);
  }
}

/** Returns the error of a create after the app has closed the pool or the connection. Nothing was stored. */
export function closedConnection(cause?: unknown): StorageBusy {
  return ownWords(new StorageBusy('the app has closed the database connection', { cause }));
}

/**
 * Returns what to throw after an error of this meaning: the one place that knows what becomes of the plants. `groupCommit`
 * retries what was rolled back.
 */
export function failureOf(
  meaning: Exclude<Meaning, 'setup' | 'program'>,
  error: unknown,
  spec: TableSpec,
): unknown {
  switch (meaning) {
    case 'unknown':
      return error;
    case 'open transaction':
      return new OpenTransaction(error);
    case 'closed':
      return closedConnection(error);
    case 'transient':
      return new RolledBack('conflict', error);
    case 'locked':
      return new RolledBack('locked', error);
    case 'expired':
      return new RolledBack('rejected', error);
    case 'rejected':
      return new Rejection('rejected', error);
    case 'refused':
      return unusable(
        spec,
        'the server refuses the login. Check user, password, database and SSL in the settings of the pool',
        error,
      );
    case 'statement':
      return unusable(spec, 'its statements fail', error);
  }
}
