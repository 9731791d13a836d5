import { ownWords } from '../../../src/for-storages.js';
import { RolledBack, StorageBusy } from '../../../src/index.js';
import { Rejection } from './rejection.js';

/**
 * What an error says of the plants that were sent. `unknown`: they may or may not be stored. All others: nothing was stored,
 * and
 *
 * - `conflict`: to send them again may help: a deadlock, a failover, a full disk, a statement that took too long, no connection yet.
 * - `locked`: another transaction holds a lock that a plant needs.
 * - `rejected`: the database rejects a plant of the batch.
 * - `open transaction`: the connection came with a transaction of the app.
 * - `closed`: the app has closed the pool or the connection.
 * - `no login`: the server takes no connection with these settings: a user, a password, a database.
 * - `setup`: the table, the grants or the statements lack something that each create needs.
 * - `setup, or of a plant`: likewise, but a statement of a trigger, or a policy, may have met it for one plant: an INSERT of nothing
 *   shows which.
 * - `program`: a fault of a program, such as an object that is no database.
 */
export type Meaning =
  | 'unknown'
  | 'conflict'
  | 'locked'
  | 'rejected'
  | 'open transaction'
  | 'closed'
  | 'no login'
  | 'setup'
  | 'setup, or of a plant'
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

/** A transaction of this package failed before its COMMIT was sent, by its cause: nothing is stored. */
export class Uncommitted extends Error {
  constructor(
    cause: unknown,
    /** Whether the connection was still there to roll it back. */
    readonly isAlive: boolean,
  ) {
    super('nothing was committed', { cause });
    ownWords(this);
  }
}

/** Returns the error of a create after the app has closed the pool or the connection. Nothing was stored. */
export function closedConnection(cause?: unknown): StorageBusy {
  return ownWords(new StorageBusy('the app has closed the database connection', { cause }));
}

type Failure = Exclude<Meaning, 'setup' | 'setup, or of a plant' | 'program'>;

/**
 * Returns what to throw after an error of this meaning: the one place that knows what becomes of the plants. `groupCommit`
 * retries what was rolled back.
 */
export function failureOf(meaning: Failure, error: unknown): unknown {
  switch (meaning) {
    case 'unknown':
      return error;
    case 'open transaction':
      return new OpenTransaction(error);
    case 'closed':
      return closedConnection(error);
    case 'conflict':
      return new RolledBack('conflict', error);
    case 'locked':
      return new RolledBack('locked', error);
    case 'rejected':
      return new Rejection('rejected', error);
    case 'no login':
      return ownWords(new StorageBusy(noLogin, { cause: error }));
  }
}

const noLogin =
  'the server refuses the login. Check user, password or token, database and SSL in the settings of the pool or client';
