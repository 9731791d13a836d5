import { systemClock } from '../timers.js';

/** Which line to wait in: that of `new` batches, or that of the `rest`: parts of batches, and creates that are retried. */
export type Line = 'new' | 'rest';

/**
 * Who may send: one at a time. Each line is first come, first served, and the two take turns: new batches do not wait for
 * all parts of a rejected one, and rejected creates are sent although new ones keep coming.
 */
export class Turn {
  /** The line of the one whose turn it is, if anybody has the turn. */
  #served: Line | undefined = undefined;
  readonly #waiting: Record<Line, (() => void)[]> = { new: [], rest: [] };

  get isTaken(): boolean {
    return this.#served !== undefined;
  }

  /** Resolves when it is the caller's turn, which lasts until `pass`. */
  async take(line: Line): Promise<void> {
    if (this.isTaken) return new Promise((resolve) => this.#waiting[line].push(resolve));
    this.#served = line;
  }

  /** Ends the turn: it is the next one's, if anybody waits. */
  pass(): void {
    const order: Line[] = this.#served === 'new' ? ['rest', 'new'] : ['new', 'rest'];
    this.#served = order.find((line) => this.#waiting[line].length > 0);
    if (this.#served) this.#waiting[this.#served].shift()!();
  }
}

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
