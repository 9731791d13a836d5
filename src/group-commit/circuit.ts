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
  }

  close(): void {
    this.isOpen = false;
    this.attemptMs = this.#timeoutMs;
  }
}
