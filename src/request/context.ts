import type { PlantRequest, ReadBody, Signal } from '../http.js';

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
}

/** A request that an adapter creates from the host's own. */
export abstract class HostRequest extends WithSignal implements PlantRequest {
  abstract readonly body: ReadBody;
  #drainMs = 5_000;

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

  /** How long the remaining upload may be drained after a refusal: milliseconds. */
  get drainMs(): number {
    return this.#drainMs;
  }

  /** Called before a refusal. */
  limitDrain(ms: number): void {
    this.#drainMs = ms;
  }
}

/** What `verifyToken` and the storage get in addition to the token and the plant. */
export class Context<Caller> extends WithSignal {
  caller = undefined as Caller;
  readonly #progress: { readonly signal: Signal };

  constructor(
    readonly request: PlantRequest,
    progress: { readonly signal: Signal },
  ) {
    super();
    this.#progress = progress;
  }

  getSignal(): Signal {
    return this.#progress.signal;
  }
}

/** Whether a request's client has disconnected. Creates no signal on hosts that know this without one. */
export function isDisconnected(request: PlantRequest): boolean {
  try {
    const known = request instanceof WithSignal ? request.isAborted?.() : undefined;
    if (known !== undefined) return known;
  } catch {} // A Proxy has no private fields, and may override `signal`: ask that instead.
  return request.signal?.aborted === true;
}
