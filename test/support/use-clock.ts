// A file of its own, because it loads the timers of the library: other tests first put their own in place.
import { type Clock, systemClock } from '../../src/timers.js';

const platform = { ...systemClock };

/** Puts a clock in the place of the platform's, or the platform's again, for what is called from now on. */
export function useClock({ now, setTimer, clearTimer, atEndOfIteration }: Clock = platform): void {
  Object.assign(systemClock, { now, setTimer, clearTimer, atEndOfIteration });
}
