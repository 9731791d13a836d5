import type { GroupCommitStorage } from 'plant-store';
import type { Clock } from '../../src/timers.js';
import { inContext } from './requests.js';

/** Lets promises that are settled call their listeners, and theirs. Much faster than an iteration of the event loop. */
function drained(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

interface Timer {
  readonly at: number;
  readonly task: () => void;
  isCleared: boolean;
}

/** A clock that stands still until `advance` is called. As on a platform, a task runs in the context that set it. */
export class SimulatedClock implements Clock {
  #now = 0;
  #turn: (() => void)[] = [];
  /** In the order in which they expire, of those of the same moment in the order in which they were set. */
  readonly #timers: Timer[] = [];

  readonly now = () => this.#now;
  readonly setTimer = (task: () => void, ms: number) => {
    const timer: Timer = { at: this.#now + ms, task: inContext(task), isCleared: false };
    this.#timers.splice(this.#placeOf(timer), 0, timer);
    return timer;
  };
  // It stays in its place until then: to look for it among ten thousand takes longer.
  readonly clearTimer = (timer: unknown) => void (timer && Object.assign(timer, { isCleared: true }));
  readonly atEndOfIteration = (task: () => void) => void this.#turn.push(inContext(task));

  get timerCount(): number {
    return this.#timers.filter(({ isCleared }) => !isCleared).length;
  }

  #placeOf({ at }: Timer): number {
    let [low, high] = [0, this.#timers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#timers[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  get #next(): Timer | undefined {
    while (this.#timers[0]?.isCleared) this.#timers.shift();
    return this.#timers[0];
  }

  /** Ends the turns that wait for their end, without letting time pass. */
  async endTurn(): Promise<void> {
    do {
      for (const task of this.#turn.splice(0)) task();
      await drained();
    } while (this.#turn.length > 0);
  }

  /** Runs the timers that expire within the next `ms` milliseconds, in their order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await this.endTurn();
      const next = this.#next;
      if (!next || next.at > end) break;
      this.#timers.shift();
      this.#now = Math.max(this.#now, next.at);
      next.task();
    }
    this.#now = end;
  }

  /** Lets time pass until the next timer expires, which runs. */
  async advanceToNextTimer(): Promise<void> {
    const next = this.#next;
    if (next) await this.advance(next.at - this.#now);
  }

  /** Lets time pass as work does that blocks the event loop: no timer fires. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** Resolves after `ms` milliseconds of this clock. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.setTimer(resolve, ms);
    });
  }
}

/**
 * Lets time pass in a pause between the calls of creates that are retried, and not while a server works, however slow that is:
 * the outcome of a call that outlasts the timeout is unknown.
 */
export async function passInPause(
  clock: SimulatedClock,
  { state }: Pick<GroupCommitStorage, 'state'>,
): Promise<void> {
  if (state().inFlightMs === null) await clock.advanceToNextTimer();
}
