import type { PlantRequest, Signal } from '../http.js';
import { now } from '../timers.js';

/** How long a refused upload may be drained if the request has no time limit: milliseconds. */
const drainMs = 5_000;

/** The time limit of a request, and the signal that tells of it. */
export class Deadline {
  /** The reason, once the time limit has expired. */
  expired: DOMException | undefined;
  readonly #expiresAt: number;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  #controller: AbortController | undefined;
  #stopListening: (() => void) | undefined;

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

  /** Milliseconds that are left for a refused upload: without a time limit always the same, however long the request took. */
  get leftMs(): number {
    if (this.expired) return 0;
    return this.#expiresAt === Number.POSITIVE_INFINITY ? drainMs : Math.max(0, this.#expiresAt - now());
  }

  expire(reason: DOMException): void {
    this.expired = reason;
    this.#controller?.abort(reason);
  }

  /** Ends the wait: from now on the signal never aborts. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    try {
      this.#stopListening?.();
    } catch {} // The client's signal is the host's own, and may be no real AbortSignal.
  }

  /** Aborts when the time limit expires and when the client disconnects; never after the response. */
  get signal(): Signal {
    this.#controller ??= this.#createController();
    return this.#controller.signal;
  }

  #createController(): AbortController {
    const controller = new AbortController();
    const client = this.request.signal;
    const onDisconnect = () => controller.abort(client?.reason);
    if (this.expired) controller.abort(this.expired);
    else if (client?.aborted) onDisconnect();
    else if (!this.#isOver) client?.addEventListener('abort', onDisconnect);
    this.#stopListening = () => client?.removeEventListener('abort', onDisconnect);
    return controller;
  }
}
