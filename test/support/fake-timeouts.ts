import { onTestFinished, vi } from 'vitest';

/**
 * Puts the timeouts of requests, and the waits for clients, on a clock that stands still. What Node's own streams use
 * stays real.
 */
export function fakeTimeouts() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const made = fakeAbortSignalTimeout();
  onTestFinished(() => {
    made.mockRestore();
    vi.useRealTimers();
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  /** Waits until a timer has been started. */
  const started = async () => {
    while (vi.getTimerCount() === 0) await turn();
  };
  return {
    started,
    /** Waits until a request has started its timeout, and lets it expire. */
    async expire() {
      await started();
      await vi.runOnlyPendingTimersAsync();
    },
    /** Lets `ms` milliseconds pass, and then what has begun in them go on. */
    async pass(ms: number) {
      await vi.advanceTimersByTimeAsync(ms);
      for (let i = 0; i < 5; i++) await turn();
    },
  };
}

/** Puts `AbortSignal.timeout`, which Vitest does not fake, on the clock of `setTimeout`. */
export const fakeAbortSignalTimeout = () =>
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ms);
    return controller.signal;
  });
