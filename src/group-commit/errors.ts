import { OwnError } from '../errors/own-words.js';
import { StorageBusy } from '../storage.js';
import type { RollbackReason } from './create-many.js';

/** What the database met when it stored nothing of a call. */
export interface Rollback {
  readonly reason: RollbackReason;
  /** Otherwise, it may have met it at another plant of the call. */
  readonly isLone: boolean;
  /** The database's error. */
  readonly cause: unknown;
  /** How long the call took, in milliseconds. */
  readonly callMs: number;
}

/** A call was given up. Named as the platform names its timeouts. */
export class CallTimeout extends OwnError {
  override readonly name = 'TimeoutError';
}

/** A create was not stored, for this reason. */
export const notStored = (message: string, cause?: unknown) => new StorageBusy(message, { cause });

/** The error of a create that was not stored before its timeout. */
export function notStoredInTime(
  rollback: Rollback | undefined,
  lastRollback: unknown,
  locked: Locked,
): StorageBusy {
  if (!rollback) return notStored(`${tooLittleTime}, and was not sent`, lastRollback);
  const { reason, isLone, cause } = rollback;
  // Of several plants, one may have met the lock, unless all do.
  if (reason === 'locked' && (isLone || locked === 'table')) return lockedBy(locked, cause);
  return isLone ? unavailable(cause) : notStored(`${tooLittleTime}, after its batch was rolled back`, cause);
}

/** What another transaction has locked, as far as it is known. */
export type Locked = 'row' | 'row or table' | 'table';

const locks: { readonly [What in Locked]: string } = {
  row: 'another transaction has locked the row',
  'row or table': 'another transaction has locked the row, or the table',
  table: 'another transaction has locked the table, or each row that was tried',
};

/** The error of what waits for a lock. */
export const lockedBy = (what: Locked, cause: unknown) => notStored(locks[what], cause);

const tooLittleTime = 'the plant waited in the queue until too little of its timeout was left';

/** The error of a create whose calls all failed, with nothing stored. */
export function unavailable(cause: unknown): StorageBusy {
  return notStored('the storage is unavailable', cause);
}

/** The error of a create for which the queue has no place. */
export const queueFull = () => notStored('the storage queue is full');

/** The error of a create that is not even queued. */
export function circuitOpen(cause: unknown): StorageBusy {
  return notStored('the circuit is open', cause);
}
