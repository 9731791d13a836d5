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
