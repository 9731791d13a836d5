import { StorageBusy } from '../storage.js';

/** Why the database stored nothing of a call. */
export interface Rollback {
  /** `outage`: of the whole call, whatever its plants are. `locked row`: of a lone plant. `batch`: maybe because of another plant. */
  readonly reason: 'outage' | 'locked row' | 'batch';
  /** The database's error. */
  readonly cause: unknown;
}

/** A call was given up. Named as the platform names its timeouts: the log then writes one line, without a stack. */
export class CallTimeout extends Error {
  override readonly name = 'TimeoutError';
}

/** The error of a create that was not stored before its timeout. */
export function notStoredInTime(id: bigint, rollback: Rollback | undefined): StorageBusy {
  switch (rollback?.reason) {
    case undefined:
      return new StorageBusy(`${tooLittleTime}, and was not sent`);
    case 'outage':
      return unavailable(rollback.cause);
    case 'locked row':
      return new StorageBusy(`the row of id ${id} is locked`, { cause: rollback.cause });
    case 'batch':
      return new StorageBusy(`${tooLittleTime}, after its batch was rolled back`, { cause: rollback.cause });
  }
}

const tooLittleTime = 'the plant waited in the queue until too little of its timeout was left';

/** The error of a create whose calls all failed, with nothing stored. */
export function unavailable(cause: unknown): StorageBusy {
  return new StorageBusy('the storage is unavailable', { cause });
}

/** The error of a create that is not even queued. */
export function circuitOpen(cause: unknown): StorageBusy {
  return new StorageBusy('the circuit is open', { cause });
}
