import { ownWords } from '../quotable.js';
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

/** A call was given up. Named as the platform names its timeouts: the log then writes one line, without a stack. */
export class CallTimeout extends Error {
  override readonly name = 'TimeoutError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    ownWords(this);
  }
}

/** A create was not stored, for this reason, which quotes nobody. */
export const busy = (message: string, cause?: unknown): StorageBusy =>
  ownWords(new StorageBusy(message, { cause }));

/** The error of a create that was not stored before its timeout. */
export function notStoredInTime(rollback: Rollback | undefined, lastRollback: unknown): StorageBusy {
  if (!rollback) return busy(`${tooLittleTime}, and was not sent`, lastRollback);
  const { reason, isLone, cause } = rollback;
  if (!isLone) return busy(`${tooLittleTime}, after its batch was rolled back`, cause);
  return reason === 'locked' ? busy('another transaction has locked the row', cause) : unavailable(cause);
}

const tooLittleTime = 'the plant waited in the queue until too little of its timeout was left';

/** The error of a create whose calls all failed, with nothing stored. */
export function unavailable(cause: unknown): StorageBusy {
  return busy('the storage is unavailable', cause);
}

/** The error of a create that is not even queued. */
export function circuitOpen(cause: unknown): StorageBusy {
  return busy('the circuit is open', cause);
}
