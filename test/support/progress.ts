interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Shows on a terminal how much of a long program is done, and how much longer it takes. Silent without a terminal. */
export class Progress {
  readonly #total: number;
  readonly #out: Terminal;
  readonly #started = performance.now();
  #secondsEach: number | undefined;
  #done = 0;
  #advanced = this.#started;

  /**
   * @param total of any unit: rows, slices, expected seconds
   * @param secondsEach a first guess of what one unit takes, replaced by the measured time as soon as one is done
   */
  constructor(total: number, secondsEach?: number, out: Terminal = process.stderr) {
    this.#total = total;
    this.#secondsEach = secondsEach;
    this.#out = out;
  }

  /** Shows what runs now, until the next call. */
  show(what: string): void {
    if (!this.#out.isTTY) return;
    const share = Math.min(1, this.#done / this.#total);
    const line = `${Math.round(100 * share)} %${this.#left()}: ${what}`;
    this.#out.write(`\r${line.slice(0, (this.#out.columns || 80) - 1)}\x1b[K\r`);
  }

  /** Counts units as done, and clears the line, so that the program can print a result. */
  advance(units = 1): void {
    this.#done += units;
    this.#advanced = performance.now();
    if (this.#done > 0) this.#secondsEach = (this.#advanced - this.#started) / 1_000 / this.#done;
    this.clear();
  }

  clear(): void {
    if (this.#out.isTTY) this.#out.write('\r\x1b[K');
  }

  #left(): string {
    if (this.#secondsEach === undefined) return '';
    const sinceThen = (performance.now() - this.#advanced) / 1_000;
    const seconds = Math.max(0, (this.#total - this.#done) * this.#secondsEach - sinceThen);
    return `, about ${seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`} left`;
  }
}
