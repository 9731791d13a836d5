import { vi } from 'vitest';
import { SimulatedClock } from './clock.js';

/** A timer of the library while it is not over. */
interface Timer {
  readonly id: unknown;
  readonly onClock: unknown;
  wakes: boolean;
}

/**
 * The platform's timers, `AbortSignal.timeout` too, and `performance.now`, on a simulated clock. To be put in place before the library is loaded,
 * because it keeps some of them from then on.
 */
export class SimulatedTimers {
  clock = new SimulatedClock();
  readonly #timers = new Map<unknown, Timer>();

  install(): void {
    vi.stubGlobal('setTimeout', this.#set);
    vi.stubGlobal('clearTimeout', this.#clear);
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const controller = new AbortController();
      this.#set(() => controller.abort(), ms);
      return controller.signal;
    });
    vi.stubGlobal('performance', { now: () => this.clock.now() });
  }

  /** Begins anew, at 0 ms and without timers. */
  reset(): SimulatedClock {
    this.clock = new SimulatedClock();
    this.#timers.clear();
    return this.clock;
  }

  /** How many timers keep the process alive. */
  get waking(): number {
    let count = 0;
    for (const { wakes } of this.#timers.values()) if (wakes) count++;
    return count;
  }

  /** How many timers are not over. */
  get count(): number {
    return this.#timers.size;
  }

  readonly #set = (task: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): unknown => {
    const id = { ref: () => wakes(true), unref: () => wakes(false) };
    const onClock = this.clock.setTimer(() => {
      this.#timers.delete(id);
      task(...args);
    }, ms);
    const timer = { id, onClock, wakes: true };
    const wakes = (value: boolean) => {
      timer.wakes = value;
      return id;
    };
    this.#timers.set(id, timer);
    return id;
  };

  readonly #clear = (id: unknown): void => {
    this.clock.clearTimer(this.#timers.get(id)?.onClock);
    this.#timers.delete(id);
  };
}
