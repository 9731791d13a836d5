import type { Clock } from '../timers.js';

/**
 * When an idle queue sends a create that has come: at the end of its turn, with all others of that turn; or at once, if
 * the last batch was a lone create too, which costs a create that comes with others one more round trip.
 */
export class Pace {
  #wasLone = false;
  /** Whether the driver blocks until a batch ends: then creates that are sent at once never meet, and share no batch. */
  #isBlocking = true;
  #batches = 0;

  constructor(readonly clock: Clock) {}

  /** @param isNew whether it is for a create that has just come */
  schedule(send: () => void, isNew: boolean): void {
    // Not in this call, so that creates that are called together share a batch.
    if (isNew && this.#wasLone && !this.#isBlocking) Promise.resolve().then(send);
    else this.clock.atEndOfTurn(send);
  }

  onSent(count: number, isInFlight: () => boolean): void {
    this.#wasLone = count === 1;
    // The first one alone would not tell, because it may have opened a file or a connection.
    if (this.#batches++ % 16 > 0) return;
    this.#isBlocking = true;
    this.clock.atEndOfTurn(() => {
      this.#isBlocking = !isInFlight();
    });
  }
}
