/**
 * One timer for the timeouts of all requests of a mount. On Deno, to start and clear a timer for each costs a fifth of a
 * request. Can be deleted together with its lines in fetch.ts. Not for Workers, where a timer ends with the request that
 * started it.
 */
export class SharedTimer {
  /** When each expires, by what to call then. All last equally long, so they expire in the order they started. */
  readonly #waiting = new Map<() => void, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Calls `onTimeout` after `ms` milliseconds, which is the same number for each call.
   *
   * @returns what cancels it
   */
  start(onTimeout: () => void, ms: number): () => void {
    let expire = onTimeout;
    // A promise calls back in the AsyncLocalStorage of whoever waits for it, not of the request that started the timer.
    new Promise<void>((resolve) => {
      expire = resolve;
    }).then(onTimeout);
    this.#waiting.set(expire, performance.now() + ms);
    if (this.#timer === undefined) this.#wait(ms);
    else this.#timer.ref?.();
    return () => {
      this.#waiting.delete(expire);
      // The timer stays for the next request, but (older Denos aside) keeps no process alive that has nothing else to do.
      if (this.#waiting.size === 0) this.#timer?.unref?.();
    };
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const [expire, expiresAt] of this.#waiting) {
        const left = expiresAt - performance.now();
        // Rounded up: a timer may be a fraction of a millisecond early.
        if (left > 0) return this.#wait(Math.ceil(left));
        this.#waiting.delete(expire);
        expire();
      }
    }, ms);
  }
}
