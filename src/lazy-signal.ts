import type { Signal } from './http.js';

function lazySignal(this: WithSignal): Signal {
  return this.getSignal();
}

/**
 * An object whose `signal` is created when it is first read, because an AbortController costs a fifth of a request and
 * most code never reads it. A base class, not a literal with a getter: V8 creates a new hidden class for each
 * such literal, at 1 to 2 µs a request.
 */
export abstract class WithSignal {
  declare readonly signal: Signal;
  declare __defineGetter__: (name: string, get: () => Signal) => void;

  constructor() {
    // An own property, so that `{ ...context }` copies it. Not `defineProperty`: 0.2 µs more on Deno, twice a request.
    this.__defineGetter__('signal', lazySignal);
  }

  /** Called at each read of `signal`. Returns the same signal each time. */
  abstract getSignal(): Signal;

  /** Whether `signal` has aborted. Implemented only by a host that knows this without creating the signal. */
  isAborted?(): boolean;

  /** Calls `onTimeout` after `ms` milliseconds; returns what cancels it. Only a host with slow timers implements and uses it. */
  startTimer?(onTimeout: () => void, ms: number): (() => void) | undefined;
}
