import type { PlantRequest, Signal } from '../http.js';
import { now } from '../timers.js';

/** How long the rest of an upload may be drained if the request has no time limit: milliseconds. */
export const defaultDrainMs = 5_000;

/** The time limit of a request, and the signal that tells of it. */
export class Deadline {
  /** Once the time limit has expired. */
  timeoutError: DOMException | undefined;
  /** Whether the request has its response. */
  isOver = false;
  #expiresAt: number;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #controller: AbortController | undefined;
  /** The client's own signal, once it is listened to. */
  #client: Signal | undefined;
  #onDisconnect: (() => void) | undefined;

  /** @param timeoutMs 0 for none */
  constructor(
    timeoutMs: number,
    readonly request: PlantRequest,
    onExpired: () => void,
  ) {
    this.#expiresAt = timeoutMs > 0 ? now() + timeoutMs : Number.POSITIVE_INFINITY;
    // Looked up at each call, so that fake timers can expire a request.
    if (timeoutMs > 0) this.#timer = setTimeout(onExpired, timeoutMs);
  }

  /** Milliseconds that are left for the rest of an upload: without a time limit always the same, however long the request took. */
  get leftMs(): number {
    return this.#expiresAt === Number.POSITIVE_INFINITY
      ? defaultDrainMs
      : Math.max(0, this.#expiresAt - now());
  }

  expire(reason: DOMException): void {
    this.timeoutError = reason;
    this.#expiresAt = 0;
    this.#controller?.abort(reason);
  }

  /** Ends the wait: from now on the signal never aborts. If it is first read later, it still says whether the client has left. */
  end(): void {
    this.isOver = true;
    clearTimeout(this.#timer);
    try {
      if (this.#onDisconnect) this.#client?.removeEventListener('abort', this.#onDisconnect);
    } catch {} // The client's signal is the host's own, and may be no real AbortSignal.
  }

  /** Aborts when the time limit expires and when the client disconnects; once it was read, never after the response. */
  get signal(): Signal {
    this.#controller ??= this.#createController();
    return this.#controller.signal;
  }

  #createController(): AbortController {
    const controller = new AbortController();
    const client = this.request.signal;
    const onDisconnect = () => controller.abort(client?.reason);
    if (this.timeoutError) controller.abort(this.timeoutError);
    else if (client?.aborted) onDisconnect();
    else if (!this.isOver) client?.addEventListener('abort', onDisconnect);
    this.#client = client;
    this.#onDisconnect = onDisconnect;
    return controller;
  }
}
