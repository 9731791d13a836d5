import { CallTimeout } from './errors.js';
import { rollbackMargin } from './waiting-create.js';

/** Timeout of the first probe, in milliseconds: a healthy database commits one plant in a tenth of it. */
const firstProbeMs = 250;

/**
 * The part of a create's time in which a response shows that the database is available. Less than all of it: a create that
 * was called while the last call before an outage was in flight has seen that call's response. More than none: a create also
 * expires at a locked row or in a long queue, while others are stored.
 */
const recently = 0.9;

/**
 * After so many calls in a row that were rolled back, the database is taken to roll back all: a locked table, a full disk, a standby.
 * Fewer are what it takes to find one of four plants in a batch of 256.
 */
const enoughRollbacks = 4;

/** The pause before each call while the database rolls back all, in milliseconds: ten statements a second show when that ends. */
const stalledPauseMs = 100;

/**
 * The pause after a call of which nothing was sent, such as one whose login was refused. It doubles with each, up to the longest: two
 * logins a second show when that ends.
 */
const [unavailablePauseMs, longestPauseMs] = [10, 500];

/** A circuit breaker. It opens when a call times out and nothing was stored since; it closes when the database stores or rejects a plant. */
export class Circuit {
  #isOpen = false;
  #cause: unknown;
  #limitMs: number;
  #rollbacksInRow = 0;
  #unavailableInRow = 0;
  /** When the pause is over after the last call of which nothing was sent. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  #lastRollback: unknown;
  /** When the database last stored or rejected a plant. */
  #respondedAt = Number.NEGATIVE_INFINITY;

  constructor(readonly timeoutMs: number) {
    this.#limitMs = timeoutMs;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Why it is open. */
  get cause(): unknown {
    return this.#cause;
  }

  /** How long a create that is called now may take, in milliseconds: less if it is a probe. */
  get limitMs(): number {
    return this.#limitMs;
  }

  /** The limit, in words. */
  get limit(): string {
    return `${Math.round(this.#limitMs)} ms${this.#isOpen ? ', the limit of a probe while the circuit is open' : ''}`;
  }

  /**
   * Opens it, or keeps it open, unless the database has responded recently. Returns whether it is open.
   *
   * @param callMs how long the database took to roll back the last call, or `undefined` if a call did not end in time
   */
  onTimeout(cause: unknown, callMs: number | undefined, now: number): boolean {
    if (this.#respondedAt > now - recently * this.timeoutMs) return false;
    this.#limitMs = Math.min(this.#nextProbeMs(callMs), this.timeoutMs);
    // That a probe is slow as well says less than what opened the circuit.
    if (!this.#isOpen || !(cause instanceof CallTimeout)) this.#cause = cause;
    this.#isOpen = true;
    return true;
  }

  /** Whether the database has rolled back the last calls, of several plants. */
  get isStalled(): boolean {
    return this.#rollbacksInRow >= enoughRollbacks;
  }

  /** What the database met in the last call, if that was rolled back. */
  get lastRollback(): unknown {
    return this.#lastRollback;
  }

  /** The pause before the next call, in milliseconds. */
  pauseMs(now: number): number {
    const stalled = this.isStalled ? stalledPauseMs : 0;
    // A probe is called when that pause is over.
    const unavailable = this.#isOpen ? 0 : this.#restsUntil - now;
    // A create that has less time, as with a short `timeoutMs`, must not spend it in pauses.
    return Math.min(Math.max(stalled, unavailable, 0), this.#limitMs / 4);
  }

  /** Whether it is too early for a probe. */
  isResting(now: number): boolean {
    return now < this.#restsUntil;
  }

  /** A call was rolled back that may be stored as it is. Not for the retry of a lone plant, which shows nothing of others. */
  onRollback(cause: unknown): void {
    this.#rollbacksInRow++;
    this.#lastRollback = cause;
  }

  /** A call has ended of which nothing was sent. */
  onUnavailable(now: number): void {
    const ms = Math.min(unavailablePauseMs * 2 ** this.#unavailableInRow, longestPauseMs, this.timeoutMs / 4);
    this.#unavailableInRow++;
    this.#restsUntil = now + ms;
  }

  onResponse(now: number): void {
    this.#rollbacksInRow = 0;
    this.#unavailableInRow = 0;
    this.#restsUntil = Number.NEGATIVE_INFINITY;
    this.#lastRollback = undefined;
    this.#isOpen = false;
    this.#cause = undefined;
    this.#limitMs = this.timeoutMs;
    this.#respondedAt = now;
  }

  /**
   * A database that rolls back gets the time to do so: a probe that is given up before has an unknown outcome. One that does not respond
   * gets twice as long each time, since to log in and to look at the table may take a distant one longer than the first has.
   */
  #nextProbeMs(callMs: number | undefined): number {
    const probeMs = this.#isOpen ? this.#limitMs : firstProbeMs;
    // It is sent again if there is time, so it has that of two calls.
    if (callMs !== undefined) return Math.max(probeMs, 2 * rollbackMargin * callMs);
    return this.#isOpen ? 2 * probeMs : probeMs;
  }
}
