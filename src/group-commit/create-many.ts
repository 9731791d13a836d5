import type { MaybePromise, Signal } from '../http.js';
import type { NewPlant } from '../plant/plant.js';
import type { StorageContext } from '../storage.js';

/** The outcome of one plant of a batch; an `Error` is what its `create` throws. */
export type CreateOutcome = 'created' | 'taken' | Error;

/** One call of `createMany`. Ignore it if your `createMany` always settles in time. */
export interface BatchCall {
  /**
   * Whether the plants may have been sent to the database. Set it to `false` while you wait for a connection, and to
   * `true` right before you send: if the call times out while this is `false`, its creates reject with `StorageBusy`, and
   * to set it to `true` throws. Default: `true`.
   */
  sent: boolean;
  /** Aborts once every create of this call is settled: do not send, and release what you hold. */
  readonly signal: Signal;
}

/**
 * Stores plants together; returns one outcome per plant, in the same order. No id comes twice in a call (within one
 * namespace), and ids come sorted, so that two instances cannot deadlock. It may change what it gets.
 *
 * @throws {RolledBack} if the database confirms that it stored nothing: the plants are retried.
 * Anything else thrown is the outcome of each plant: it may or may not exist.
 */
export type CreateMany<Caller> = (
  plants: readonly NewPlant[],
  contexts: readonly StorageContext<Caller>[],
  call: BatchCall,
) => MaybePromise<readonly CreateOutcome[]>;

/**
 * Thrown by a `createMany` when the database confirms that it stored nothing of this call. The plants are retried until
 * they time out:
 *
 * - `together`: a deadlock, a failover.
 * - `apart`, in parts, to find the plants that the database rejects. It rejects a plant that was sent alone.
 * - `alone`: another transaction has locked a row. Several plants are sent in parts; a lone one is retried while others are
 *   sent. End the wait for the lock after 500 ms at most, because it blocks every create.
 *
 * Never throw it for a dropped connection or a timeout of your own, because the plants may be stored. Anything thrown
 * `together` or `alone` because of a fault of the program, such as a TypeError, rejects its plants at once.
 *
 * @example
 * ```ts
 * function retrying<Caller>(createMany: CreateMany<Caller>): CreateMany<Caller> {
 *   return async (plants, contexts, call) => {
 *     try {
 *       return await createMany(plants, contexts, call);
 *     } catch (error) {
 *       const { code } = error as { code?: string };
 *       if (code === '40P01') throw new RolledBack('together', error); // deadlock
 *       if (code === '23514') throw new RolledBack('apart', error); // a plant breaks a CHECK
 *       if (code === '55P03') throw new RolledBack('alone', error); // locked
 *       throw error;
 *     }
 *   };
 * }
 * ```
 */
export class RolledBack extends Error {
  override readonly name = 'RolledBack';

  /** @param cause the database's error: what `create` throws if the plant was sent alone and `apart` */
  constructor(
    readonly resend: 'together' | 'apart' | 'alone',
    // No member of its own: TypeScript 4.7 has another type for that of Error.
    cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
