import type { Clock } from '../timers.js';

/**
 * When an idle queue sends: at the end of the turn, with all creates that come in it; or, if the last turn that had
 * creates had only one, at once. Drivers that block end each batch in its turn: if creates of one turn were sent at once,
 * none would share a batch.
 */
export class Pace {
  /** How many creates this turn has had. */
  #count = 0;
  #isQuiet = false;

  constructor(readonly clock: Clock) {}

  /** Counts a create. Returns whether it can be sent at once. */
  onCreate(): boolean {
    const isLone = this.#isQuiet;
    this.#isQuiet = false;
    this.#count++;
    return isLone;
  }

  /** Calls `send` at the end of this turn, or before it if `isLone`; then the end only has to tell whether others came. */
  schedule(send: () => void, isLone: boolean): void {
    // Not in this call, so that creates that are called together share a batch.
    if (isLone) Promise.resolve().then(send);
    this.clock.atEndOfTurn(() => {
      this.#isQuiet = this.#count === 1;
      this.#count = 0;
      if (!isLone) send();
    }, isLone);
  }
}
