/** Calls `onTimeout` after `ms` milliseconds. Returns what cancels it. */
type StartTimer = (onTimeout: () => void, ms: number) => () => void;

/**
 * One timer for the timeouts of all requests of a mount, which last equally long. On Deno, to start and clear a timer for
 * each costs a fifth of a request. Can be deleted together with its lines in fetch.ts. Not for Workers, where a timer ends
 * with the request that started it.
 */
export function sharedTimer(): StartTimer {
  /** Expiry time by callback, soonest first. */
  const waiting = new Map<() => void, number>();
  // Not of `setTimeout`: `Deno.test` reports a timer that outlives its test, and this one stays for the next request.
  let timer: AbortSignal | undefined;

  function wait(ms: number): void {
    if (!timer || timer.aborted) timer = AbortSignal.timeout(ms);
    timer.addEventListener('abort', onAbort);
  }

  function onAbort(): void {
    for (const [expire, expiresAt] of waiting) {
      const left = expiresAt - performance.now();
      // Rounded up: a timer may be a fraction of a millisecond early.
      if (left > 0) return void wait(Math.ceil(left));
      waiting.delete(expire);
      expire();
    }
  }

  return (onTimeout, ms) => {
    let expire = onTimeout;
    // A promise calls back in the AsyncLocalStorage of whoever waits for it, not of the request that started the timer.
    new Promise<void>((resolve) => {
      expire = resolve;
    }).then(onTimeout);
    waiting.set(expire, performance.now() + ms);
    if (waiting.size === 1) wait(ms);
    return () => {
      waiting.delete(expire);
      // Without a listener, the timer keeps no process alive.
      if (waiting.size === 0) timer?.removeEventListener('abort', onAbort);
    };
  };
}
