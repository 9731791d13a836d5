import { isNamed } from '../errors/problems.js';
import type { NewPlant, Whole } from '../plant/plant.js';
import type { StorageContext } from '../storage.js';
import { notStoredInTime, type Rollback } from './errors.js';
import type { Health } from './health.js';

/** How much longer than the last wait for a lock, or for a timeout of the database, the next one may take. */
export const rollbackMargin = 2;

type Outcome = 'created' | 'taken';

/** Where a create belongs, and how long it may take. */
interface Origin<Caller> {
  readonly context: StorageContext<Caller>;
  /** What its id is unique within. */
  readonly namespace: unknown;
  readonly expiresAt: number;
  readonly health: Health;
}

/** One call of `create` in a group commit, until it settles. */
export class WaitingCreate<Caller> {
  readonly plant: Whole<NewPlant>;
  readonly context: StorageContext<Caller>;
  readonly namespace: unknown;
  readonly expiresAt: number;
  readonly textLength: number;
  readonly health: Health;
  readonly #storedBefore: number;
  isSettled = false;
  /** Later creates of its id in its call: not sent, and `taken` once this one is stored. */
  duplicates: readonly WaitingCreate<Caller>[] = noDuplicates;
  /** Its last rollback, if there was one. */
  rollback: Rollback | undefined = undefined;
  /** The error of an earlier create of its id that may be stored, if there is one. */
  #earlierError: unknown = undefined;

  /** Reads each member once: a getter of a script's own plant could throw later, in the midst of a batch. */
  constructor(
    { id, name, tag }: NewPlant,
    { context, namespace, expiresAt, health }: Origin<Caller>,
    readonly resolve: (outcome: Outcome) => void,
    readonly reject: (error: unknown) => void,
  ) {
    if (typeof id !== 'bigint' || typeof name !== 'string' || typeof (tag ?? '') !== 'string')
      throw new TypeError(noPlant);
    // `tag` is always an own property: one on `Object.prototype` must not be read.
    this.plant = { id, name, tag: tag ?? undefined };
    this.context = context;
    this.namespace = namespace;
    this.expiresAt = expiresAt;
    this.health = health;
    this.#storedBefore = health.storedCalls;
    this.textLength = Object.values(this.plant).reduce<number>((sum, value) => sum + lengthOf(value), 0);
  }

  /** Resolves it. Its id is stored now, so its duplicates are `taken`. */
  settle(outcome: Outcome): void {
    this.isSettled = true;
    this.resolve(outcome);
    for (const duplicate of this.duplicates) duplicate.settle('taken');
  }

  /** Rejects it. If its plant may be stored, its duplicates remember why: they must not reject with "not stored" later. */
  fail(error: unknown): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.health.onFailed(this.plant.id, error);
    this.reject(error);
    if (saysNotStored(error)) return;
    for (const duplicate of this.duplicates) duplicate.#earlierError = error;
  }

  /** Rejects it because nothing of its own was stored. If an earlier create of its id may be stored, its error says so. */
  failNotStored(error: Error): void {
    this.fail(this.#earlierError ?? error);
  }

  /**
   * Rejects it because too little of its time is left to send it.
   *
   * @param lastRollback what the database met in the last call, if that was rolled back
   */
  expire(lastRollback: unknown): void {
    this.failNotStored(
      notStoredInTime(this.rollback, lastRollback, this.health.lockedSince(this.#storedBefore)),
    );
  }

  /**
   * Whether too little of its time is left to send it, because the outcome of a create that times out while it is sent is unknown. A call
   * may take `reserveMs`; or as long as the last one took to be rolled back, and twice that if it was this plant's own.
   */
  isLate(now: number, reserveMs: number): boolean {
    return this.expiresAt - Math.max(reserveMs, this.#againMs) <= now;
  }

  get #againMs(): number {
    // A plant that others were rejected with takes a part of their time.
    if (!this.rollback || this.rollback.reason === 'rejected') return 0;
    return this.rollback.callMs * (this.rollback.isLone ? rollbackMargin : 1);
  }

  hasIdOf({ plant, namespace }: WaitingCreate<Caller>): boolean {
    return this.plant.id === plant.id && this.namespace === namespace;
  }
}

/** Shared by nearly all creates, so that they need no array of their own. */
export const noDuplicates: readonly never[] = [];

const lengthOf = (value: unknown) => (typeof value === 'string' ? value.length : 0);

const noPlant = 'create needs a plant: a bigint id, a string name and, if there is one, a string tag';

/** Whether an error means that nothing was stored. */
function saysNotStored(error: unknown): boolean {
  return ['PlantRefused', 'RolledBack', 'StorageBusy'].some((name) => isNamed(error, name));
}
