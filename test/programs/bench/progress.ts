/** Says on a terminal how far a long program is and how long it will take; says nothing if no person watches. */
export class Progress {
  readonly #start = performance.now();
  #done = 0;

  /** @param total seconds that all of it takes, about: a first guess, mended by how long the first parts took */
  constructor(
    readonly total: number,
    readonly out: { isTTY?: boolean; write(text: string): unknown } = process.stderr,
  ) {}

  /** Shows what is done now. */
  tell(what: string): void {
    if (!this.out.isTTY) return;
    const share = Math.min(1, this.#done / this.total);
    this.out.write(`\r\x1b[K${Math.round(100 * share)} %, ${timeText(this.#left())} left: ${what}\r`);
  }

  /** @param seconds how much of the total is done now */
  advance(seconds: number): void {
    this.#done += seconds;
    this.#clear();
  }

  end(): void {
    this.#clear();
  }

  #left(): number {
    const elapsed = (performance.now() - this.#start) / 1000;
    const pace = this.#done ? elapsed / this.#done : 1;
    return Math.max(0, this.total - this.#done) * pace;
  }

  #clear(): void {
    if (this.out.isTTY) this.out.write('\x1b[K');
  }
}

function timeText(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
