import { systemClock } from '../timers.js';

/** How many calls in a row have to show the same. */
const enoughCalls = 3;

/**
 * Finds out whether a driver blocks the event loop, as those of SQLite do. To a driver that does not block, a batch is sent at
 * once: creates that are called meanwhile share the next one. A driver that blocks would end each call before a second
 * create could join: its batch gets all creates of a turn of the event loop.
 */
export class Driver {
  /** What the last calls showed, and how many of them in a row. */
  #blocks: boolean | undefined = undefined;
  #callsInRow = 0;

  /** Resolves when a batch that has its turn may be closed: a driver is taken to block until it is known not to. */
  async gather(): Promise<void> {
    if (!this.#blocks && this.#callsInRow >= enoughCalls) return;
    await new Promise<void>((resolve) => systemClock.atEndOfTurn(resolve));
  }

  /** Watches a call that has just begun: a driver has blocked if the call has ended in this turn of the event loop. */
  observe(call: { readonly end: unknown }): void {
    if (this.#callsInRow >= enoughCalls) return;
    systemClock.atEndOfTurn(() => {
      const blocked = call.end !== undefined;
      this.#callsInRow = blocked === this.#blocks ? this.#callsInRow + 1 : 1;
      this.#blocks = blocked;
    });
  }
}
