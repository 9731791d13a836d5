import type { PlantHandler, PlantRequest, PlantResponse, Signal } from '../http.js';
import type { Complete, PlantStoreOptions } from '../options.js';
import { type ErrorNumber, propertyOf, Refusal } from '../problems.js';
import type { StorageContext } from '../storage.js';
import { now } from '../timers.js';
import { HostRequest, WithSignal } from './context.js';
import { respondToMistake } from './mount-mistakes.js';
import { library, type Party } from './parties.js';
import { report } from './report.js';

/** The steps of one request. Ends by calling `progress.respond`, because to return the response costs a promise more, or throws. */
export type Steps<Caller> = (progress: Progress<Caller>, request: PlantRequest) => Promise<void>;

/** Creates a handler: each request gets one response, at its timeout at the latest. */
export function createHandler<Caller>(
  steps: Steps<Caller>,
  settings: Complete<PlantStoreOptions>,
): PlantHandler {
  return function handle(request, index) {
    return new Promise((resolve) => {
      // An object is a host's response, environment or next handler: the adapter was forgotten.
      if (Object(index) === index) return resolve(respondToMistake(request, index));
      const progress = new Progress<Caller>(request, settings, resolve);
      steps(progress, request).catch((thrown) => progress.refuse(thrown));
      progress.armTimer();
    });
  };
}

const settled = Promise.resolve();

/**
 * Tracks a request from its first step to its only response: the party at work, the deadline, the way out. It is also what
 * `verifyToken` and the storage get, so that a request needs one object less: they see what is not private.
 */
export class Progress<Caller> extends WithSignal implements StorageContext<Caller> {
  caller = undefined as Caller;
  readonly #settings: Complete<PlantStoreOptions>;
  readonly #resolve: (response: PlantResponse) => void;
  /** The party at work; a timeout is attributed to it. */
  #party = library;
  #isClosed = false;
  /** The reason, once the timeout has expired. */
  #expired: DOMException | undefined;
  #expiresAt = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #controller: AbortController | undefined;
  #removeAbortListener: (() => void) | undefined;
  #abandonBody: ((ms: number) => unknown) | undefined;

  constructor(
    readonly request: PlantRequest,
    settings: Complete<PlantStoreOptions>,
    resolve: (response: PlantResponse) => void,
  ) {
    super();
    this.#settings = settings;
    this.#resolve = resolve;
  }

  /** Begins a party's step. Throws after the timeout, because the request has its response already. */
  enter(party: Party): void {
    if (this.#expired) throw this.#expired;
    this.#party = party;
  }

  /** @param abandon called if the request is refused while its body is being read */
  onRefusal(abandon: (ms: number) => unknown): void {
    this.#abandonBody = abandon;
  }

  respond(response: PlantResponse): void {
    this.#isClosed = true;
    this.#cancelTimer?.();
    try {
      if (this.#host && response.status >= 400) this.#host.drainMs = this.#left;
      this.#removeAbortListener?.();
    } catch {} // The app may have frozen the request; and the client's signal is the host's own, and may be no real AbortSignal.
    this.#resolve(response);
  }

  /** Converts anything thrown to a response, and reports a 5xx to `onError`. */
  refuse(thrown: unknown): void {
    // After the timeout the response is sent already, and a late error is dropped.
    if (this.#isClosed) return;
    // Not `instanceof`, which throws on a revoked proxy.
    const isRefusal = propertyOf(thrown, 'constructor') === Refusal;
    const refusal = isRefusal
      ? (thrown as Refusal)
      : this.#party.toRefusal(thrown, Boolean(this.#expired), this.#settings);
    const response = refusal.toResponse(propertyOf(this.request, 'method'));
    const { status, error } = response;
    if (status >= 500) report(this.#settings.onError, thrown, this.request, error as ErrorNumber);
    this.respond(response);
    this.#abandonBody?.(this.#left);
  }

  /** Aborts when the timeout expires and when the client disconnects; never after the response. */
  getSignal(): Signal {
    if (!this.#controller) {
      const controller = new AbortController();
      const client = this.request.signal;
      const onDisconnect = () => controller.abort(client?.reason);
      if (this.#expired) controller.abort(this.#expired);
      else if (client?.aborted) onDisconnect();
      else if (!this.#isClosed) client?.addEventListener('abort', onDisconnect);
      this.#controller = controller;
      this.#removeAbortListener = () => client?.removeEventListener('abort', onDisconnect);
    }
    return this.#controller.signal;
  }

  /** Starts the timer when a step has taken longer than a microtask, because work that is already done needs none. */
  async armTimer(): Promise<void> {
    const { timeoutMs } = this.#settings;
    let party: Party;
    do {
      party = this.#party;
      await settled;
    } while (party !== this.#party);
    if (this.#isClosed || timeoutMs === 0) return;
    const onTimeout = () => this.#expire();
    this.#expiresAt = now() + timeoutMs;
    this.#cancelTimer = this.#host?.startTimer?.(onTimeout, timeoutMs);
    if (this.#cancelTimer) return;
    // Looked up at each call, so that fake timers can expire a request.
    const timer = setTimeout(onTimeout, timeoutMs);
    this.#cancelTimer = () => clearTimeout(timer);
  }

  get #host(): HostRequest | undefined {
    return this.request instanceof HostRequest ? this.request : undefined;
  }

  /** Milliseconds until the timeout; 5000 if there is none. */
  get #left(): number {
    if (this.#expired) return 0;
    return Math.min(this.#settings.timeoutMs || 5_000, Math.max(0, this.#expiresAt - now()));
  }

  #expire(): void {
    const message = `timed out after ${this.#settings.timeoutMs} ms waiting for ${this.#party.name}`;
    this.#expired = new DOMException(message, 'TimeoutError');
    this.#controller?.abort(this.#expired);
    this.refuse(this.#expired);
  }
}
