import { propertyOf } from '../errors/property-of.js';
import {
  type PlantHeaders,
  type PlantRequest,
  pathOf,
  type ReadBody,
  type RouteParams,
  type Signal,
} from '../http.js';
import type { StorageContext } from '../storage.js';
import { defaultDrainMs } from './upload.js';

/** What `verifyToken`, the storage and a guarded handler get of a request: these three members, and nothing else. */
export class RequestContext<Caller> implements StorageContext<Caller> {
  declare readonly signal: Signal;
  /** Set when the token is accepted. */
  caller = undefined as Caller;
  readonly #progress: { readonly signal: Signal };

  constructor(
    readonly request: PlantRequest,
    progress: { readonly signal: Signal },
  ) {
    this.#progress = progress;
    // Created when it is first read, because most code never reads it; an own member, so that `{ ...context }` copies it. One
    // getter for all: V8 would give each object a hidden class of its own, which tripled the time of a request.
    Object.defineProperty(this, 'signal', { get: this.#getSignal, enumerable: true, configurable: true });
  }

  #getSignal(): Signal {
    return this.#progress.signal;
  }
}

/**
 * A request that an adapter creates from the host's own. It has no members of its own, only getters of its class: so a log of
 * the whole, or of a copy, shows neither credentials nor the host's request. Of a copy, a clone or a Proxy, which have no private
 * members, each getter returns `undefined`: loggers that redact read them all.
 */
export abstract class HostRequest implements PlantRequest {
  readonly #method: string;
  readonly #url: string;
  readonly #headers: PlantHeaders;
  readonly #raw: unknown;
  #routed = false;
  #params: RouteParams | undefined;
  #drainMs = defaultDrainMs;
  abstract get body(): ReadBody;
  /** The same signal at each read, if the host has one. */
  abstract get signal(): Signal | undefined;

  constructor(method: string, url: string, headers: PlantHeaders, raw: unknown) {
    this.#method = method;
    this.#url = url;
    this.#headers = headers;
    this.#raw = raw;
  }

  get method(): string {
    return #raw in this ? this.#method : nothing;
  }

  get url(): string {
    return #raw in this ? this.#url : nothing;
  }

  get headers(): PlantHeaders {
    return #raw in this ? this.#headers : nothing;
  }

  get raw(): unknown {
    return #raw in this ? this.#raw : nothing;
  }

  get routed(): boolean {
    return #raw in this && this.#routed;
  }

  get params(): RouteParams | undefined {
    return #raw in this ? this.#params : nothing;
  }

  /**
   * @param isRouted whether the host's router has matched the path
   * @param params what it has found in the path
   */
  setRoute(isRouted: boolean, params: unknown): void {
    this.#routed = isRouted;
    if (Object(params) === params) this.#params = params as RouteParams;
  }

  /** How long the rest of an upload may be drained: milliseconds. */
  get drainMs(): number {
    return #raw in this ? this.#drainMs : defaultDrainMs;
  }

  /** Called before each response with a status from 400 on: before another, the body has usually been read. */
  get setDrainMs(): (ms: number) => void {
    return (ms) => {
      if (#raw in this) this.#drainMs = ms;
    };
  }

  /** What a log of the whole shows: no query, which may have a token (RFC 6750 §2.3). */
  toJSON(): { readonly method: string; readonly url: string } {
    return { method: this.method, url: pathOf(`${this.url}`) };
  }

  /** For `console.log` and `util.inspect` of Node, Bun and Deno. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON();
  }
}

/** What a copy has of a request: the check of members says what to pass. */
const nothing = undefined as never;

/**
 * The request of an adapter. Compares by what it is, not by its class: if an app loads the handler as ESM and the adapter
 * as CommonJS, there are two classes.
 */
export function asHostRequest(request: PlantRequest): HostRequest | undefined {
  return typeof propertyOf(request, 'setDrainMs') === 'function' ? (request as HostRequest) : undefined;
}
