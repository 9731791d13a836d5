import { systemClock } from '../timers.js';

/** How many calls in a row tell whether a driver blocks the event loop. */
const enough = 3;

/**
 * Who may send: one batch at a time. Two lines take turns, each first come, first served: new batches, and creates that
 * were rolled back, which are sent even if new batches keep coming.
 */
export class Turn {
  isTaken = false;
  #isOldNext = false;
  readonly #new: (() => void)[] = [];
  readonly #old: (() => void)[] = [];
  /** How many calls in a row have outlasted their turn of the event loop; negative if they ended in it. */
  #outlasted = 0;

  /**
   * Resolves when it is the caller's turn; returns `undefined` if that is now.
   *
   * @param isOld whether the creates were rolled back
   */
  take(isOld = false): Promise<void> | undefined {
    if (this.isTaken) return new Promise((resolve) => (isOld ? this.#old : this.#new).push(resolve));
    this.isTaken = true;
    return undefined;
  }

  /**
   * Resolves when a batch that has its turn has its creates; returns `undefined` if that is now. With a driver that does not
   * block the event loop, it is: creates that are called meanwhile share the next batch. A driver that blocks, as those of
   * SQLite do, would end each call before a second create could join: its batch gets all creates of a turn of the loop.
   */
  gather(): Promise<void> | undefined {
    if (this.#outlasted >= enough) return undefined;
    return new Promise((resolve) => systemClock.atEndOfTurn(resolve));
  }

  /** Called when `createMany` has returned a promise. */
  onCall(call: { readonly end: unknown }): void {
    if (Math.abs(this.#outlasted) >= enough) return;
    systemClock.atEndOfTurn(() => {
      this.#outlasted = call.end ? Math.min(this.#outlasted, 0) - 1 : Math.max(this.#outlasted, 0) + 1;
    });
  }

  pass(): void {
    this.#isOldNext = !this.#isOldNext;
    const [first, second] = this.#isOldNext ? [this.#old, this.#new] : [this.#new, this.#old];
    const next = first.shift() ?? second.shift();
    if (next) next();
    else this.isTaken = false;
  }
}
