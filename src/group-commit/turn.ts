/** Which line to wait in: that of `new` batches, or that of the `rest`: parts of batches, and creates that are retried. */
export type Line = 'new' | 'rest';

/**
 * Who may send: one at a time. Each line is first come, first served, and the two take turns: new batches do not wait for
 * all parts of a rejected one, and rejected creates are sent although new ones keep coming.
 */
export class Turn {
  isTaken = false;
  #lastServed: Line = 'new';
  readonly #waiting: Record<Line, (() => void)[]> = { new: [], rest: [] };

  /** Resolves when it is the caller's turn, which lasts until `pass`. */
  async take(line: Line): Promise<void> {
    if (this.isTaken) return new Promise((resolve) => this.#waiting[line].push(resolve));
    this.isTaken = true;
    this.#lastServed = line;
  }

  /** Ends the turn: it is the next one's, if anybody waits. */
  pass(): void {
    const next: Line = this.#lastServed === 'new' ? 'rest' : 'new';
    const line = this.#waiting[next].length > 0 ? next : this.#lastServed;
    const start = this.#waiting[line].shift();
    this.#lastServed = line;
    if (start) start();
    else this.isTaken = false;
  }
}
