/**
 * One timer for the timeouts of all requests of a mount. On Deno, to start and clear a timer for each costs a fifth of a
 * request. Can be deleted together with its lines in fetch.ts. Not for Workers, where a timer ends with the request that
 * started it.
 */
export class SharedTimer {
  /** Expiry time by callback, soonest first: all last equally long. */
  readonly #waiting = new Map<() => void, number>();
  /** Not of `setTimeout`: `Deno.test` reports a timer that outlives its test, and this one stays for the next request. */
  #timer: AbortSignal | undefined;

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
    if (this.#waiting.size === 1) this.#wait(ms);
    return () => {
      this.#waiting.delete(expire);
      // Without a listener, the timer keeps no process alive.
      if (this.#waiting.size === 0) this.#timer?.removeEventListener('abort', this.#onAbort);
    };
  }

  #wait(ms: number): void {
    if (!this.#timer || this.#timer.aborted) this.#timer = AbortSignal.timeout(ms);
    this.#timer.addEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = () => {
    for (const [expire, expiresAt] of this.#waiting) {
      const left = expiresAt - performance.now();
      // Rounded up: a timer may be a fraction of a millisecond early.
      if (left > 0) return this.#wait(Math.ceil(left));
      this.#waiting.delete(expire);
      expire();
    }
  };
}
