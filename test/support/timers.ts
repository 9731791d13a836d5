import { vi } from 'vitest';
import { SimulatedClock } from './clock.js';
import { fakeAbortSignalTimeout } from './fake-timeouts.js';

/**
 * The platform's timers, `AbortSignal.timeout` too, and `performance.now`, on a simulated clock. To be put in place before the library is loaded,
 * because it keeps some of them from then on.
 */
export class SimulatedTimers {
  clock = new SimulatedClock();
  /** From each timer of the library that is not over to that of the clock. */
  readonly #timers = new Map<unknown, unknown>();

  install(): void {
    vi.stubGlobal('setTimeout', this.#set);
    vi.stubGlobal('clearTimeout', this.#clear);
    fakeAbortSignalTimeout();
    vi.stubGlobal('performance', { now: () => this.clock.now() });
  }

  /** Begins anew, at 0 ms and without timers. */
  reset(): SimulatedClock {
    this.clock = new SimulatedClock();
    this.#timers.clear();
    return this.clock;
  }

  /** How many timers are not over. */
  get count(): number {
    return this.#timers.size;
  }

  readonly #set = (task: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): unknown => {
    const id = { ref: () => id, unref: () => id };
    const onClock = this.clock.setTimer(() => {
      this.#timers.delete(id);
      task(...args);
    }, ms);
    this.#timers.set(id, onClock);
    return id;
  };

  readonly #clear = (id: unknown): void => {
    this.clock.clearTimer(this.#timers.get(id));
    this.#timers.delete(id);
  };
}
