import { onTestFinished, vi } from 'vitest';

/** Puts the timeouts of requests on a clock that stands still until `expire`. What Node's own streams use stays real. */
export function fakeTimeouts(): { expire: () => Promise<void> } {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return {
    /** Waits until a request has started its timeout, and lets it expire. */
    async expire() {
      while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
      await vi.runOnlyPendingTimersAsync();
    },
  };
}
