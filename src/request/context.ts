import type { PlantRequest, ReadBody, Signal } from '../http.js';

/**
 * An object whose `signal` is created when it is first read, because most code never reads it. A base class, not a literal
 * with a getter: V8 creates a new hidden class for each such literal.
 */
export abstract class WithSignal {
  declare readonly signal: Signal;
  declare __defineGetter__: (name: string, get: () => Signal) => void;

  constructor() {
    // An own property, so that `{ ...context }` copies it. Faster than `defineProperty`.
    this.__defineGetter__('signal', this.getSignal);
  }

  /** Called at each read of `signal`. Returns the same signal each time. */
  abstract getSignal(): Signal;
}

/** A request that an adapter creates from the host's own. */
export abstract class HostRequest extends WithSignal implements PlantRequest {
  abstract readonly body: ReadBody;
  /** How long the remaining upload may be drained after a refusal: milliseconds. Set before each refusal. */
  drainMs = 5_000;

  constructor(
    readonly method: string,
    public url: string,
    readonly headers: PlantRequest['headers'],
    readonly raw: unknown,
  ) {
    super();
  }

  /** Calls `onTimeout` after `ms` milliseconds, and returns a function that cancels it; `undefined` to use `setTimeout`. */
  startTimer?(onTimeout: () => void, ms: number): (() => void) | undefined;

  /** Hides credentials and the host's own request from a log of the whole. By their names they can still be read. */
  conceal(): void {
    const hidden = ['headers', 'raw', 'body', 'signal', 'drainMs'];
    for (const name of hidden) Object.defineProperty(this, name, { enumerable: false });
  }

  /** `%o` of Node, and of winston, shows hidden members, too. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return { ...this };
  }
}
