import { isNamed } from '../errors/problems.js';
import { ignoringErrors } from '../http.js';
import type { NewPlant } from '../plant/plant.js';
import type { StorageStatus } from '../storage.js';
import { systemClock } from '../timers.js';
import type { RolledBack } from './create-many.js';
import { type Locked, lockedBy } from './errors.js';
import { type BatchReport, unwatched } from './options.js';

/** How long no plant is stored after an attempt that has failed, in milliseconds, until that is told: a failover of a pooler takes less. */
const silentMs = 1_500;

/** What it needs to know of a call. */
interface EndedCall {
  /** The error, if nothing of it was stored. */
  readonly cause: unknown;
  readonly firsts: readonly { readonly plant: NewPlant }[];
}

/** Creates that have failed one after another. */
class Streak {
  count = 0;
  #last: bigint | undefined;
  #since = 0;

  add(id: bigint): void {
    if (this.count === 0) this.#since = systemClock.now();
    // Its client may retry it: that says nothing of others.
    if (id !== this.#last) this.count++;
    this.#last = id;
  }

  /** For how long, in milliseconds. */
  get ms(): number | null {
    return this.count === 0 ? null : Math.round(systemClock.now() - this.#since);
  }
}

/** Whether plants are stored: what an operator is told of an outage, at any rate of creates. */
export class Health {
  /** The creates that have failed since a call has stored plants, or found them taken; and those of plants that were rejected. */
  failed = new Streak();
  rejected = new Streak();
  /** How many calls have stored plants, or found them taken. */
  storedCalls = 0;
  /** When the first attempt failed since the last of them. */
  #failingSince: number | undefined;
  #cause: unknown;
  #timer: unknown;
  #isTold = false;
  #failures = 0;
  /** The ids of the last call, if a lock has ended it. */
  #lockedIds: readonly bigint[] = [];
  /** Whether locks have ended all calls since one was stored, and not those of one row alone. */
  #isLockOfAll = false;

  constructor(private listener: (status: StorageStatus) => unknown) {}

  /** Takes a listener, unless the app has one. */
  watch(listener: (status: StorageStatus) => unknown): void {
    if (this.listener === unwatched) this.listener = listener;
  }

  onEnd({ cause, firsts }: EndedCall, end: BatchReport['end']): void {
    if (end === 'settled') return void this.#onStored();
    this.#onLock(end === 'locked' ? firsts.map(({ plant }) => plant.id) : []);
    // A plant that is rejected says nothing of others.
    if (end !== 'rejected') this.#onFailedAttempt(cause);
  }

  /** A create has failed. */
  onFailed(id: bigint, error: unknown): void {
    if (isNamed(error, 'PlantRefused')) return;
    if (isNamed<RolledBack>(error, 'RolledBack') && error.reason === 'rejected')
      return void this.rejected.add(id);
    this.#failures++;
    this.failed.add(id);
  }

  /**
   * Returns what another transaction has locked, as far as it is known to a create that waits for it.
   *
   * @param storedBefore `storedCalls` when it was called
   */
  lockedSince(storedBefore = this.storedCalls): Locked {
    if (this.#isLockOfAll) return 'table';
    return this.storedCalls > storedBefore ? 'row' : 'row or table';
  }

  #onLock(ids: readonly bigint[]): void {
    const isOther = this.#lockedIds.length > 0 && !this.#lockedIds.some((id) => ids.includes(id));
    this.#isLockOfAll = ids.length > 0 && (isOther || this.#isLockOfAll);
    this.#lockedIds = ids;
  }

  #onFailedAttempt(cause: unknown): void {
    this.#cause = cause;
    if (this.#failingSince !== undefined) return;
    this.#failingSince = systemClock.now();
    this.#timer = systemClock.setTimer(() => {
      this.#isTold = true;
      const isLock = this.#lockedIds.length > 0;
      const told = isLock ? lockedBy(this.lockedSince(), this.#cause) : this.#cause;
      this.#tell({ isWorking: false, ms: this.failingMs!, cause: told });
    }, silentMs);
  }

  #onStored(): void {
    this.storedCalls++;
    if (this.#isTold) this.#tell({ isWorking: true, ms: this.failingMs!, failed: this.#failures });
    systemClock.clearTimer(this.#timer);
    this.#failingSince = undefined;
    this.#cause = undefined;
    this.#isTold = false;
    this.#failures = 0;
    this.#onLock([]);
    if (this.failed.count > 0) this.failed = new Streak();
    if (this.rejected.count > 0) this.rejected = new Streak();
  }

  /** For how long no plant has been stored since an attempt failed, in milliseconds. */
  get failingMs(): number | null {
    return this.#failingSince === undefined ? null : Math.round(systemClock.now() - this.#failingSince);
  }

  #tell(status: StorageStatus): void {
    void ignoringErrors(async () => void (await this.listener(status)));
  }
}
