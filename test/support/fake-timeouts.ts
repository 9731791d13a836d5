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

type Timeout = typeof AbortSignal.timeout;
const switched = Symbol.for('plant-store.test.timeout');
const shared = globalThis as unknown as Record<symbol, { timeout: Timeout; readonly real: Timeout }>;

// The library keeps `AbortSignal.timeout` from when it is loaded, and this module is loaded before, as a setup file: what it keeps can be
// switched.
if (!shared[switched]) {
  const real = AbortSignal.timeout.bind(AbortSignal);
  const current = { timeout: real, real };
  shared[switched] = current;
  AbortSignal.timeout = (ms) => current.timeout(ms);
}

/** Puts `AbortSignal.timeout`, which Vitest does not fake, on the clock of `setTimeout`, until it is restored. */
export function fakeAbortSignalTimeout(): { mockRestore(): void } {
  const current = shared[switched]!;
  current.timeout = (ms) => {
    // As Node does.
    if (!Number.isInteger(ms) || ms < 0) throw new RangeError(`${ms} is not a whole number of milliseconds`);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ms);
    return controller.signal;
  };
  return {
    mockRestore() {
      current.timeout = current.real;
    },
  };
}
