import { OwnError, ownWordsOf } from '../errors/own-words.js';
import type { MaybePromise, Signal } from '../http.js';
import type { NewPlant } from '../plant/plant.js';
import type { StorageContext } from '../storage.js';

/** The outcome of one plant of a batch; an `Error` is what its `create` throws. */
export type CreateOutcome = 'created' | 'taken' | Error;

/** One call of `createMany`. Ignore it if your `createMany` always settles in time. */
export interface BatchCall {
  /**
   * Whether the plants may have been sent to the database. Set it to `false` while you wait for a connection, and to `true` right before
   * you send: if the call times out while this is `false`, its creates reject with `StorageBusy`, and setting it to `true` throws.
   * Default: `true`.
   */
  sent: boolean;
  /**
   * Returns what the call waits for while it is not `sent`, such as `the pool gave no connection`: if it times out meanwhile, its error
   * says so. Default: nothing.
   */
  waitsFor?: (() => string | undefined) | undefined;
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

/** Why the database stored nothing of a call. */
export type RollbackReason = 'conflict' | 'locked' | 'rejected' | 'unusable';

/** What became of the plants, unless the cause says it in words of plant-store. */
const rollbackSentences: { readonly [Reason in RollbackReason]: string } = {
  conflict: 'the database stored nothing, and may later',
  locked: 'another transaction holds a lock',
  rejected: 'the database rejects a plant, and stored nothing',
  unusable: 'the database stores no plant until somebody changes something',
};

/**
 * Thrown by a `createMany` when the database confirms that it stored nothing of this call, and what it met:
 *
 * - `conflict`: it may store the same plants later: a deadlock, a failover, no room on the disk.
 * - `locked`: another transaction has locked a row. End the wait for the lock after 500 ms at most, because it blocks every create.
 * - `rejected`: it never stores one of these plants: a CHECK, a trigger.
 * - `unusable`: it stores no plant at all until somebody changes something: a table, a grant.
 *
 * The first three may be about one plant of several, so the plants are sent again in parts. A single plant is rejected for good if the
 * reason is `rejected`; for the other two it is retried until it times out, while others are sent. All plants of a call that is
 * `unusable` are rejected at once.
 *
 * Never throw it for a dropped connection or a timeout of your own, because the plants may be stored. A `conflict` or `locked` with a
 * fault of the program as its cause, such as a TypeError, rejects all of its plants at once.
 *
 * @example
 * ```ts
 * function retrying<Caller>(createMany: CreateMany<Caller>): CreateMany<Caller> {
 *   return async (plants, contexts, call) => {
 *     try {
 *       return await createMany(plants, contexts, call);
 *     } catch (error) {
 *       const { code } = error as { code?: string };
 *       if (code === '40P01') throw new RolledBack('conflict', error); // deadlock
 *       if (code === '23514') throw new RolledBack('rejected', error); // a plant breaks a CHECK
 *       if (code === '55P03') throw new RolledBack('locked', error); // locked
 *       throw error;
 *     }
 *   };
 * }
 * ```
 */
export class RolledBack extends OwnError {
  override readonly name = 'RolledBack';

  /**
   * @param cause the database's error
   * @throws {TypeError} if `reason` is another word
   */
  constructor(
    readonly reason: RollbackReason,
    // No member of its own: TypeScript 4.7 has another type for that of Error.
    cause: unknown,
  ) {
    super(ownWordsOf(cause) ?? rollbackSentences[reason], { cause });
    if (!Object.hasOwn(rollbackSentences, reason)) throw new TypeError(wrongReason);
  }
}

const wrongReason =
  "RolledBack takes 'conflict' (once 'together'), 'locked' (once 'alone'), 'rejected' (once 'apart') or 'unusable'";
