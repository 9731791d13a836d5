import { OwnError } from '../../../src/for-storages.js';
import { RolledBack, StorageBusy } from '../../../src/index.js';
import { NeedsChange, Rejection } from './rejection.js';

/**
 * What an error says of the plants that were sent. `unknown`: it is not surely the database's answer to them, and they may or may not
 * be stored. All others: nothing was stored, and
 *
 * - `conflict`: to send them again may help: a deadlock, a failover, a full disk, a statement that took too long, no connection yet.
 * - `locked`: another transaction holds a lock that a plant needs.
 * - `rejected`: the database rejects a plant of the batch.
 * - `open transaction`: the connection came with a transaction of the app.
 * - `closed`: the app has closed the pool or the connection.
 * - `no login`: the server takes no connection with these settings: a user, a password, a database.
 * - `setup`: the table, the grants or the statements lack something. It may be what a trigger or a policy needs for one plant: an INSERT
 *   of nothing shows which.
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
  | 'program';

/**
 * When an error came. `before`: of a login, or of a look at the table: nothing was sent. `lost`: in a transaction of this package
 * whose COMMIT was not sent, and whose ROLLBACK failed. `rolled back`: likewise, and its ROLLBACK succeeded. `commit`: of a COMMIT, or
 * of a statement that commits by itself.
 */
export type Phase = 'before' | 'lost' | 'rolled back' | 'commit';

/** What a meaning becomes by its phase; where none is named, it stays. */
const meaningsIn: Readonly<Record<Phase, Partial<Record<Meaning, Meaning>>>> = {
  // What the server rejects before a statement is the login.
  before: { unknown: 'conflict', rejected: 'no login', setup: 'no login' },
  // Nothing is stored, and the connection may be the cause.
  lost: {
    unknown: 'conflict',
    'open transaction': 'conflict',
    'no login': 'conflict',
    setup: 'conflict',
    program: 'conflict',
  },
  // The connection works, so it is of a plant.
  'rolled back': {
    unknown: 'rejected',
    'open transaction': 'conflict',
    'no login': 'conflict',
    program: 'rejected',
  },
  // A proxy that had no server for the statement says what a login says. A driver may fail to read a response.
  commit: { 'open transaction': 'conflict', 'no login': 'conflict', program: 'unknown' },
};

/** Returns what an error of this meaning says of the plants, if it came in this phase. */
export const meaningIn = (phase: Phase, meaning: Meaning): Meaning => meaningsIn[phase][meaning] ?? meaning;

/** A connection came with a transaction of the app: its plants would be stored or lost with that. Nothing was stored. */
export class OpenTransaction extends StorageBusy {
  constructor(cause?: unknown, remedy = 'end it before the release') {
    super(`the connection already has an open transaction: ${remedy}`, { cause });
  }
}

/**
 * Which plants of a batch were new could not be asked: some are stored. Its cause is an error of that question, and so says
 * nothing of the plants.
 */
export class UnknownOutcome extends OwnError {}

/** A transaction of this package failed before its COMMIT was sent, by its cause: nothing is stored. */
export class Uncommitted extends OwnError {
  constructor(
    cause: unknown,
    /** Whether the connection was still there to roll it back. */
    readonly isAlive: boolean,
  ) {
    super('nothing was committed', { cause });
  }
}

/** The database's error, of a transaction that was not committed, too. */
export const causeOf = (given: unknown): unknown => (given instanceof Uncommitted ? given.cause : given);

/** The phase in which an error came. */
export function phaseOf(given: unknown, wasSent: boolean): Phase {
  if (!wasSent) return 'before';
  if (!(given instanceof Uncommitted)) return 'commit';
  return given.isAlive ? 'rolled back' : 'lost';
}

/** Returns the error of a create after the app has closed the pool or the connection. Nothing was stored. */
export function closedConnection(cause?: unknown): StorageBusy {
  return new NeedsChange('the app has closed the database connection', { cause });
}

type Failure = Exclude<Meaning, 'setup' | 'program'>;

/**
 * Returns what to throw after an error of this meaning, as `meaningIn` has returned it: the one place that knows what becomes of the
 * plants. `groupCommit` retries what was rolled back.
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
      return new NeedsChange(noLogin, { cause: error });
  }
}

const noLogin =
  'the server refuses the login. Check user, password or token, database and SSL in the settings of the pool or client';
