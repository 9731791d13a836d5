import type { Clock } from '../timers.js';

/** One timer for many moments: goes off at the earliest of them, and is then set anew. */
export class Alarm {
  /** When it goes off. */
  at = Number.POSITIVE_INFINITY;
  #timer: unknown;

  constructor(
    readonly clock: Clock,
    readonly onTime: () => void,
  ) {}

  /** Sets it in the call that sets it: on Workers, a timer ends with its request. */
  set(at: number): void {
    this.clear();
    this.at = at;
    const timer = this.clock.setTimer(
      () => {
        // On Workers, another request cannot cancel it.
        if (timer !== this.#timer) return;
        this.clear();
        this.onTime();
      },
      Math.max(0, at - this.clock.now()),
    );
    this.#timer = timer;
  }

  clear(): void {
    if (this.#timer !== undefined) this.clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.at = Number.POSITIVE_INFINITY;
  }
}
