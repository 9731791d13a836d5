import { systemClock } from '../timers.js';

/** Timeout of the first probe, in milliseconds. Doubles after a probe that was sent but did not settle. */
const firstProbeMs = 250;

/** A circuit breaker: open from a batch timing out until a probe settles. */
export class Circuit {
  isOpen = false;
  /** Why the circuit is open. */
  cause: unknown;
  /** How long a create that is called now may take, in milliseconds: shorter for a probe. */
  limitMs: number;
  /** When the database last settled a batch. */
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(readonly timeoutMs: number) {
    this.limitMs = timeoutMs;
  }

  /**
   * Opens it, unless the database has settled a batch lately. Returns whether it did.
   *
   * @param isSlow whether a call was sent but did not settle: the next probe gets more time
   */
  open(cause: unknown, isSlow: boolean, now: number): boolean {
    if (this.#answeredAt > now - 0.9 * this.timeoutMs) return false;
    this.limitMs = Math.min(this.isOpen ? (isSlow ? 2 : 1) * this.limitMs : firstProbeMs, this.timeoutMs);
    this.cause = cause;
    this.isOpen = true;
    return true;
  }

  onAnswer(now: number): void {
    this.isOpen = false;
    this.limitMs = this.timeoutMs;
    this.#answeredAt = now;
  }
}

/** Resolves after 5 ms, doubling with each attempt to 500 ms, with jitter. */
export function pause(attempt: number): Promise<void> {
  const ms = Math.min(500, 5 * 2 ** attempt) * (0.5 + Math.random() / 2);
  return new Promise((resolve) => systemClock.setTimer(resolve, ms));
}
