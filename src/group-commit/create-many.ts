import type { MaybePromise } from '../http.js';
import type { NewPlant } from '../plant/plant.js';
import { StorageBusy, type StorageContext } from '../storage.js';

/** What became of one plant of a batch; an `Error` is what its `create` throws. */
export type CreateOutcome = 'created' | 'taken' | Error;

/** One call of `createMany`. A `createMany` that answers in any case can ignore it. */
export interface BatchCall {
  /**
   * Set it to `false` while you wait for a connection, say, and to `true` right before you send. If the time ends while
   * it is `false`, the creates are told that nothing was stored. Default: `true`.
   */
  sent: boolean;
  /** Whether no create waits for this call any more. Then do not send. */
  readonly isGivenUp: boolean;
  /** Set it to let go of what the call holds once it is given up. */
  onGiveUp?: (() => void) | undefined;
}

/** @internal One call as who made it sees it: `createMany`, or a single statement that keeps the same time. */
export class Call implements BatchCall {
  sent = true;
  isGivenUp = false;
  onGiveUp: (() => void) | undefined;

  giveUp(): void {
    this.isGivenUp = true;
    try {
      this.onGiveUp?.();
    } catch {
      // Somebody's clean-up failed; the queue goes on.
    }
  }
}

/**
 * Stores plants together; returns one outcome per plant, in the same order. No id comes twice in a call (within one
 * namespace), and ids come sorted, so that two instances cannot deadlock.
 *
 * @throws {RolledBack} if the database said that it stored nothing: then they are sent again.
 * Anything else thrown is the outcome of each plant: it may or may not exist.
 */
export type CreateMany<Caller> = (
  plants: readonly NewPlant[],
  contexts: readonly StorageContext<Caller>[],
  call: BatchCall,
) => MaybePromise<readonly CreateOutcome[]>;

/**
 * Thrown by a `createMany` if the database itself said that nothing of this call was stored. The plants are sent again
 * while their time lasts: `together` (a deadlock, a failover), or `apart`, in halves, to find the plant at fault. Never
 * throw it for a lost connection or a passed deadline, because the plants may be stored.
 *
 * @example
 * ```ts
 * function resending<Caller>(createMany: CreateMany<Caller>): CreateMany<Caller> {
 *   return async (plants, contexts, call) => {
 *     try {
 *       return await createMany(plants, contexts, call);
 *     } catch (error) {
 *       const deadlock = (error as { code?: string }).code === '40P01';
 *       throw deadlock ? new RolledBack('together', error) : error;
 *     }
 *   };
 * }
 * ```
 */
export class RolledBack extends Error {
  override readonly name = 'RolledBack';

  /** @param cause the database's error: what `create` throws if a plant that is sent alone is at fault */
  constructor(
    readonly resend: 'together' | 'apart',
    override readonly cause: unknown,
  ) {
    super(`the database rolled back: ${cause}`);
  }
}

/** @internal The error of a create that was not stored, because of `cause`. */
export function outOfReach(cause: unknown): StorageBusy {
  return new StorageBusy('the storage is out of reach', { cause });
}
