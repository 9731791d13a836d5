import type { Complete } from '../checks/rules.js';
import type { ErrorNumber } from '../errors/numbers.js';
import { ownWords } from '../errors/own-words.js';
import { Refusal } from '../errors/problems.js';
import { propertyOf, unlessInherited } from '../errors/property-of.js';
import type { PlantHandler, PlantRequest, PlantResponse, Signal } from '../http.js';
import type { PlantStoreOptions } from '../options.js';
import { now } from '../timers.js';
import { asHostRequest, RequestContext } from './context.js';
import { mountMistake } from './mount-mistakes.js';
import { library, type Party } from './parties.js';
import { report } from './report.js';
import { defaultDrainMs } from './upload.js';

/** The steps of one request. They end by calling `progress.respond`, or throw. */
export type Steps<Caller> = (progress: Progress<Caller>, request: PlantRequest) => Promise<void>;

/** Creates a handler: each request gets one response, at its timeout at the latest. */
export function createHandler<Caller>(
  steps: Steps<Caller>,
  settings: Complete<PlantStoreOptions>,
): PlantHandler {
  return function handle(request, index) {
    // `index` is that of `requests.map(handle)`. An object is a host's response or next handler: the adapter was forgotten.
    if (Object(index) === index) throw mountMistake();
    return new Promise((resolve) => {
      const progress = new Progress<Caller>(request, settings, resolve);
      steps(progress, request).catch((thrown) => progress.fail(thrown));
    });
  };
}

/**
 * Tracks a request from its first step to its only response: the party at work, the time limit, the signal that tells of it, the way
 * out. One object, because a request pays for each.
 */
export class Progress<Caller> {
  /** What `verifyToken`, the storage and a guarded handler get. */
  readonly context: RequestContext<Caller>;
  /** The party at work; a timeout is attributed to it. */
  #party = library;
  /** Whether the request has its response. */
  #isOver = false;
  /** Once the time limit has expired. */
  #timeoutError: DOMException | undefined;
  #expiresAt = Number.POSITIVE_INFINITY;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #controller: AbortController | undefined;
  /** Once the client's own signal is listened to. */
  #stopListening: (() => void) | undefined;
  #onFailure: ((ms: number) => unknown) | undefined;

  constructor(
    readonly request: PlantRequest,
    readonly settings: Complete<PlantStoreOptions>,
    readonly resolve: (response: PlantResponse) => void,
  ) {
    const { timeoutMs } = settings;
    if (timeoutMs > 0) {
      this.#expiresAt = now() + timeoutMs;
      // Looked up at each call, so that fake timers can expire a request.
      this.#timer = setTimeout(Progress.#expire, timeoutMs, this);
    }
    this.context = new RequestContext(request, this);
  }

  /** Begins a party's step. Throws after the timeout, because the request has its response already. */
  enter(party: Party): void {
    if (this.#timeoutError) throw this.#timeoutError;
    this.#party = party;
  }

  /** Aborts when the time limit expires or the client disconnects. If it was read before the response, it does not abort afterwards. */
  get signal(): Signal {
    this.#controller ??= this.#createController();
    return this.#controller.signal;
  }

  /** If it is first read after the response, the signal still says whether the client has left. */
  #createController(): AbortController {
    const controller = new AbortController();
    const client = unlessInherited(this.request.signal, 'signal');
    const onDisconnect = () => controller.abort(client?.reason);
    if (this.#timeoutError) controller.abort(this.#timeoutError);
    else if (client?.aborted) onDisconnect();
    else if (!this.#isOver) {
      client?.addEventListener('abort', onDisconnect);
      this.#stopListening = () => client?.removeEventListener('abort', onDisconnect);
    }
    return controller;
  }

  /** @param abandon called if the request fails, with the milliseconds in which the rest of the body may be drained */
  onFailure(abandon: (ms: number) => unknown): void {
    this.#onFailure = abandon;
  }

  /** After the response of the timeout it has no effect: the promise is resolved already. */
  respond(response: PlantResponse): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    try {
      this.#stopListening?.();
    } catch {} // The client's signal is the host's own, and may be no real AbortSignal.
    if (response.status >= 400) asHostRequest(this.request)?.setDrainMs(this.#leftMs);
    this.resolve(response);
  }

  /**
   * Converts anything thrown to a response, and reports a 5xx to `onError`.
   *
   * @param isTimeout whether the timeout has thrown it, and not a step
   */
  fail(thrown: unknown, isTimeout = false): void {
    // What a step throws after the response of the timeout is dropped.
    if (this.#isOver) return;
    // Not `instanceof`, which throws on a revoked proxy.
    const isRefusal = propertyOf(thrown, 'constructor') === Refusal;
    const refusal = isRefusal ? (thrown as Refusal) : this.#party.toRefusal(thrown, isTimeout, this.settings);
    const response = refusal.toResponse(propertyOf(this.request, 'method'));
    const { status, error } = response;
    if (status >= 500) report(this.settings.onError, thrown, this.request, error as ErrorNumber);
    this.respond(response);
    this.#onFailure?.(this.#leftMs);
  }

  /** Milliseconds that are left for the rest of an upload: without a time limit always the same, however long the request took. */
  get #leftMs(): number {
    return this.#expiresAt === Number.POSITIVE_INFINITY
      ? defaultDrainMs
      : Math.max(0, this.#expiresAt - now());
  }

  /** Called by the timer with its request: a closure would be one more object a request. */
  static #expire(this: void, progress: Progress<unknown>): void {
    const message = `timed out after ${progress.settings.timeoutMs} ms waiting for ${progress.#party.name}`;
    const reason = ownWords(new DOMException(message, 'TimeoutError'));
    progress.#timeoutError = reason;
    progress.#expiresAt = 0;
    progress.#controller?.abort(reason);
    progress.fail(reason, true);
  }
}
