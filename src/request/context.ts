import type { PlantRequest, ReadBody, Signal } from '../http.js';
import { propertyOf } from '../property-of.js';
import type { StorageContext } from '../storage.js';

/**
 * Gives an object the member `signal`, which is created when it is first read, because most code never reads it. An own
 * member, so that `{ ...context }` copies it.
 *
 * @param getSignal one function for all objects of a class: V8 would give each a hidden class of its own, which tripled the
 *   time of a request
 */
function defineSignal<T extends object>(object: T, getSignal: (this: T) => Signal): void {
  Object.defineProperty(object, 'signal', { get: getSignal, enumerable: true, configurable: true });
}

/** What `verifyToken`, the storage and a guarded handler get of a request: these three members, and nothing else. */
export class RequestContext<Caller> implements StorageContext<Caller> {
  declare readonly signal: Signal;
  /** Set when the token is accepted. */
  caller = undefined as Caller;
  readonly #deadline: { readonly signal: Signal };

  constructor(
    readonly request: PlantRequest,
    deadline: { readonly signal: Signal },
  ) {
    this.#deadline = deadline;
    defineSignal(this, this.#getSignal);
  }

  #getSignal(): Signal {
    return this.#deadline.signal;
  }
}

/** A request that an adapter creates from the host's own. */
export abstract class HostRequest implements PlantRequest {
  declare readonly signal: Signal;
  abstract readonly body: ReadBody;
  /** Whether the host's router has matched the path. */
  routed = false;
  /** How long the remaining upload may be drained after a refusal: milliseconds. Set before each refusal. */
  drainMs = 5_000;

  constructor(
    readonly method: string,
    public url: string,
    readonly headers: PlantRequest['headers'],
    readonly raw: unknown,
  ) {
    defineSignal(this, this.getSignal);
  }

  /** Called at each read of `signal`. Returns the same signal each time. */
  abstract getSignal(): Signal;

  /** Hides credentials and the host's own request from a log of the whole. By their names they can still be read. */
  conceal(): void {
    const hidden = ['headers', 'raw', 'body', 'signal', 'routed', 'drainMs'];
    // Does not throw if the app has frozen its request.
    for (const name of hidden) Reflect.defineProperty(this, name, { enumerable: false });
  }

  /** `%o` of Node, and of winston, shows hidden members, too. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return { ...this };
  }
}

/**
 * The request of an adapter. Compares by what it is, not by its class: if an app loads the handler as ESM and the adapter
 * as CommonJS, there are two classes.
 */
export function asHostRequest(request: PlantRequest): HostRequest | undefined {
  return typeof propertyOf(request, 'conceal') === 'function' ? (request as HostRequest) : undefined;
}
