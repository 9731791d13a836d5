import type { GroupCommitStorage } from 'plant-store';
import type { Clock } from '../../src/timers.js';
import { inContext } from './requests.js';

/** Lets promises that are settled call their listeners, and theirs. Much faster than a turn of the event loop. */
function drained(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** A clock that stands still until `advance` is called. As on a platform, a task runs in the context that set it. */
export class SimulatedClock implements Clock {
  #now = 0;
  #turn: (() => void)[] = [];
  readonly #timers = new Set<{ readonly at: number; readonly task: () => void }>();

  readonly now = () => this.#now;
  readonly setTimer = (task: () => void, ms: number) => {
    const timer = { at: this.#now + ms, task: inContext(task) };
    this.#timers.add(timer);
    return timer;
  };
  readonly clearTimer = (timer: unknown) => void this.#timers.delete(timer as never);
  readonly atEndOfTurn = (task: () => void) => void this.#turn.push(inContext(task));

  get timerCount(): number {
    return this.#timers.size;
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
      let next: { readonly at: number; readonly task: () => void } | undefined;
      for (const timer of this.#timers) if (!next || timer.at < next.at) next = timer;
      if (!next || next.at > end) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.task();
    }
    this.#now = end;
  }

  /** Lets time pass until the next timer expires, which runs. */
  async advanceToNextTimer(): Promise<void> {
    const times = [...this.#timers].map(({ at }) => at);
    if (times.length > 0) await this.advance(Math.min(...times) - this.#now);
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
  if (state().inFlightSince === null) await clock.advanceToNextTimer();
}
