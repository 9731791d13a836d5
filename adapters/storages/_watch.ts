/** Looks again after some time, by a timer that test runners do not fake and that keeps no process alive. */
export class Watch {
  #isSet = false;

  /** @param ms the time in milliseconds */
  constructor(
    readonly ms: number,
    readonly look: () => void,
  ) {}

  /** Once, however often it is set before it looks. */
  set(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    AbortSignal.timeout(this.ms).addEventListener('abort', () => {
      this.#isSet = false;
      this.look();
    });
  }
}
