/**
 * Timeout of the first probe, in milliseconds. Doubles after a probe that was sent but did not settle, so that a slow
 * database is recognised too.
 */
const firstProbeMs = 250;

/** A circuit breaker: open from a batch timing out until a probe settles. */
export class Circuit {
  isOpen = false;
  /** Why the circuit is open. */
  cause: unknown;
  /** Timeout of the next attempt, in milliseconds: shorter for a probe. */
  attemptMs: number;
  /** When the database last settled or rejected a batch. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** How many batches in a row the database rolled back. */
  #rollbacks = 0;
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.attemptMs = timeoutMs;
    this.#timeoutMs = timeoutMs;
  }

  /** @param isSlow whether a probe was sent but did not settle */
  open(cause: unknown, isSlow: boolean): void {
    const probeMs = this.isOpen ? (isSlow ? 2 : 1) * this.attemptMs : firstProbeMs;
    this.attemptMs = Math.min(probeMs, this.#timeoutMs);
    this.isOpen = true;
    this.cause = cause;
    this.#rollbacks = 0;
  }

  onAnswer(now: number): void {
    this.isOpen = false;
    this.attemptMs = this.#timeoutMs;
    this.#answeredAt = now;
    this.#rollbacks = 0;
  }

  /** Whether the database has settled or rejected a batch lately. */
  isWell(now: number): boolean {
    return this.#answeredAt > now - 0.9 * this.#timeoutMs;
  }

  /** How long to wait after a batch was rolled back, in milliseconds. */
  pauseMs(): number {
    return retryPause(this.#rollbacks++);
  }
}

/** 5 ms, doubling to 500 ms, with jitter. */
export function retryPause(attempt: number): number {
  return Math.min(500, 5 * 2 ** attempt) * (0.5 + Math.random() / 2);
}
