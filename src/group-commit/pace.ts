import type { BatchReport } from './options.js';

/**
 * The part of a create's time that a call should take at most. An eighth: a create waits for the call in flight and for its
 * own, a quarter of its time, so that some is left for a retry; and a call stays within half of the time even if it takes
 * four times as long for each plant as the last one.
 */
const callShare = 1 / 8;

/**
 * How much longer than expected a call may take, in parts of the expected time: the outcome of a create that times out while
 * it is sent is unknown, so a create is not sent if its call may take half as long again as the last one for each plant.
 */
const margin = 1.5;

/** The most plants of a call before one has settled: with 60 ms a row, as many as an eighth of 10 s allows. */
const firstPlants = 16;

/**
 * How many plants a call may have, by the time that the last one took: otherwise a trigger that takes 60 ms a row would let
 * batch after batch expire. The time of a call is taken to grow with its plants. Where it does not, because each commit takes
 * long, the next call is larger, since the last one took less for each plant.
 */
export class Pace {
  readonly #callMs: number;
  #msPerPlant: number;

  constructor(timeoutMs: number) {
    this.#callMs = callShare * timeoutMs;
    this.#msPerPlant = this.#callMs / firstPlants;
  }

  /** The most plants that the next call may have. */
  get maxPlants(): number {
    return Math.max(1, Math.floor(this.#callMs / this.#msPerPlant));
  }

  /** How much of its time a create must have left for a call of so many plants. */
  reserveMs(plants: number): number {
    // A lone plant may take longer than a call should. It is sent all the same: nothing smaller can be.
    return margin * Math.min(plants * this.#msPerPlant, this.#callMs);
  }

  onEnd(plants: number, ms: number, end: BatchReport['end']): void {
    // A call that ended early with nothing stored shows nothing: it may have been at its first plant.
    if (end === 'settled' || ms > this.#callMs) this.#msPerPlant = ms / plants;
  }
}
