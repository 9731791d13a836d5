import type { PlantRequest, Signal } from './http.js';
import { WithSignal } from './lazy-signal.js';

/** A time limit of one request, and an AbortSignal that is created when it is first read. */
export class Deadline {
  /** Set once the time limit has expired. */
  expired: DOMException | undefined;
  isClosed = false;
  readonly #timeoutMs: number;
  readonly #request: PlantRequest;
  #cancelTimer: (() => void) | undefined;
  #controller: AbortController | undefined;
  #removeAbortListener: (() => void) | undefined;

  /** @param timeoutMs milliseconds, 0 for no limit */
  constructor(timeoutMs: number, request: PlantRequest) {
    this.#timeoutMs = timeoutMs;
    this.#request = request;
  }

  /** Starts the timer. Not one that is kept from when this module loads: an app's tests may let a request time out. */
  start(onTimeout: () => void): void {
    if (this.#timeoutMs === 0) return;
    const host = this.#request instanceof WithSignal ? this.#request : undefined;
    this.#cancelTimer =
      host?.startTimer?.(onTimeout, this.#timeoutMs) ?? startTimer(onTimeout, this.#timeoutMs);
  }

  /** Aborts the signal. Returns the reason. */
  expire(waitingFor: string): DOMException {
    const message = `timed out after ${this.#timeoutMs} ms waiting for ${waitingFor}`;
    this.expired = new DOMException(message, 'TimeoutError');
    this.#controller?.abort(this.expired);
    return this.expired;
  }

  /** Aborts when the deadline expires and when the client disconnects; never after the response. */
  get signal(): Signal {
    if (!this.#controller) {
      const controller = new AbortController();
      const client = this.#request.signal;
      const onDisconnect = () => controller.abort(client?.reason);
      if (this.expired) controller.abort(this.expired);
      else if (client?.aborted) onDisconnect();
      else if (!this.isClosed) client?.addEventListener('abort', onDisconnect);
      this.#controller = controller;
      this.#removeAbortListener = () => client?.removeEventListener('abort', onDisconnect);
    }
    return this.#controller.signal;
  }

  /** Stops the timer and stops listening to the client's signal. */
  close(): void {
    this.isClosed = true;
    this.#cancelTimer?.();
    try {
      this.#removeAbortListener?.();
    } catch {} // The client's signal is the host's own and may be no real AbortSignal.
  }
}

function startTimer(onTimeout: () => void, ms: number): () => void {
  const timer = setTimeout(onTimeout, ms);
  return () => clearTimeout(timer);
}
