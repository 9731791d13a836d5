/** Which line a batch waits in: `new`, or what was `rolled back` and is sent in parts, or again. */
export type Line = 'new' | 'rolled back';

/**
 * Who may send: one at a time. Each line is first come, first served, and the two take turns: new batches do not wait for
 * all parts of a rejected one, and rejected creates are sent although new ones keep coming.
 */
export class Turn {
  isTaken = false;
  #lastServed: Line = 'new';
  readonly #waiting: Record<Line, (() => void)[]> = { new: [], 'rolled back': [] };

  /** Resolves when it is the caller's turn, which lasts until `pass`. */
  async take(line: Line): Promise<void> {
    if (this.isTaken) return new Promise((resolve) => this.#waiting[line].push(resolve));
    this.isTaken = true;
    this.#lastServed = line;
  }

  /** Ends the turn: it is the next one's, if anybody waits. */
  pass(): void {
    const next: Line = this.#lastServed === 'new' ? 'rolled back' : 'new';
    const line = this.#waiting[next].length > 0 ? next : this.#lastServed;
    const start = this.#waiting[line].shift();
    this.#lastServed = line;
    if (start) start();
    else this.isTaken = false;
  }
}
