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

  /** @param at never, if it is infinite */
  set(at: number): void {
    if (at === this.at) return;
    if (this.#timer !== undefined) this.clock.clearTimer(this.#timer);
    this.at = at;
    this.#timer = undefined;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timer = this.clock.setTimer(() => this.#goOff(), Math.max(0, at - this.clock.now()));
  }

  #goOff(): void {
    this.at = Number.POSITIVE_INFINITY;
    this.#timer = undefined;
    this.onTime();
  }
}
