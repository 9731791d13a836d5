import type { MaybePromise, Signal } from '../http.js';
import type { NewPlant } from '../plant/plant.js';
import { StorageBusy, type StorageContext } from '../storage.js';

/** What became of one plant of a batch; an `Error` is what its `create` throws. */
export type CreateOutcome = 'created' | 'taken' | Error;

/** One call of `createMany`. Ignore it if your `createMany` always settles in time. */
export interface BatchCall {
  /**
   * Whether the plants may have been sent to the database. Set it to `false` while you wait for a connection, and to
   * `true` right before you send: if the call times out while this is `false`, its creates reject with `StorageBusy`.
   * Default: `true`.
   */
  sent: boolean;
  /** Aborts once every create of this call is settled: do not send, and release what you hold. */
  readonly signal: Signal;
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
