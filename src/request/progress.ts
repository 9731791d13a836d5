import type { ErrorNumber } from '../error-numbers.js';
import type { PlantHandler, PlantRequest, PlantResponse } from '../http.js';
import type { PlantStoreOptions } from '../options.js';
import { Refusal } from '../problems.js';
import { propertyOf } from '../property-of.js';
import { anything, mayQuote, ownWords } from '../quotable.js';
import type { Complete } from '../rules.js';
import { asHostRequest, RequestContext } from './context.js';
import { Deadline } from './deadline.js';
import { mountMistake } from './mount-mistakes.js';
import { bodyOwner, guardedHandler, library, type Party } from './parties.js';
import { report } from './report.js';

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

/** Tracks a request from its first step to its only response: the party at work, the time limit, the way out. */
export class Progress<Caller> {
  /** What `verifyToken`, the storage and a guarded handler get. */
  readonly context: RequestContext<Caller>;
  /** What the body says: an error of the storage may quote it. */
  plant: unknown = undefined;
  readonly #deadline: Deadline;
  /** The party at work; a timeout is attributed to it. */
  #party = library;
  #onFailure: ((ms: number) => unknown) | undefined;

  constructor(
    readonly request: PlantRequest,
    readonly settings: Complete<PlantStoreOptions>,
    readonly resolve: (response: PlantResponse) => void,
  ) {
    this.#deadline = new Deadline(settings.timeoutMs, request, () => this.#expire());
    this.context = new RequestContext(request, this.#deadline);
  }

  /** Begins a party's step. Throws after the timeout, because the request has its response already. */
  enter(party: Party): void {
    if (this.#deadline.timeoutError) throw this.#deadline.timeoutError;
    this.#party = party;
  }

  /** @param abandon called if the request fails, with the milliseconds in which the rest of the body may be drained */
  onFailure(abandon: (ms: number) => unknown): void {
    this.#onFailure = abandon;
  }

  /** After the response of the timeout it has no effect: the promise is resolved already. */
  respond(response: PlantResponse): void {
    this.#deadline.end();
    if (response.status >= 400) asHostRequest(this.request)?.setDrainMs(this.#deadline.leftMs);
    this.resolve(response);
  }

  /** Converts anything thrown to a response, and reports a 5xx to `onError`. */
  fail(thrown: unknown): void {
    // An error after the response of the timeout is dropped.
    if (this.#deadline.isOver) return;
    // Not `instanceof`, which throws on a revoked proxy.
    const isRefusal = propertyOf(thrown, 'constructor') === Refusal;
    // After the expiry only `#expire` gets here, with its own reason: what is thrown later was dropped above.
    const isTimeout = this.#deadline.timeoutError !== undefined;
    const refusal = isRefusal ? (thrown as Refusal) : this.#party.toRefusal(thrown, isTimeout, this.settings);
    const response = refusal.toResponse(propertyOf(this.request, 'method'));
    const { status, error } = response;
    if (status >= 500) {
      mayQuote(thrown, ...this.#quotable());
      report(this.settings.onError, thrown, this.request, error as ErrorNumber);
    }
    this.respond(response);
    this.#onFailure?.(this.#deadline.leftMs);
  }

  /** What an error of the party at work may quote. */
  #quotable(): readonly unknown[] {
    const { request, plant } = this;
    const isReading = this.#party === bodyOwner || this.#party === guardedHandler;
    // What they have read, nobody else knows. A guarded GET has no body.
    const mayHaveRead = isReading && propertyOf(request, 'method') !== 'GET';
    return [request, plant, mayHaveRead && anything];
  }

  #expire(): void {
    const message = `timed out after ${this.settings.timeoutMs} ms waiting for ${this.#party.name}`;
    const reason = ownWords(new DOMException(message, 'TimeoutError'));
    this.#deadline.expire(reason);
    this.fail(reason);
  }
}
