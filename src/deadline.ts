import type { PlantRequest, Signal } from './http.js';

const turn = Promise.resolve();

/** The time one request has: at most one timer, and an `AbortSignal` for those who ask for it. */
export class Deadline {
  /** The error of the deadline, once it has passed. */
  expired: DOMException | undefined;
  readonly #request: PlantRequest;
  readonly #timeoutMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expire: (() => void) | undefined;
  #controller: AbortController | undefined;
  #release: (() => void) | undefined;
  #closed = false;

  /** @param timeoutMs milliseconds, 0 for no limit */
  constructor(timeoutMs: number, request: PlantRequest) {
    this.#timeoutMs = timeoutMs;
    this.#request = request;
  }

  /**
   * Settles as `work` does, or rejects with `expired` at the deadline; whatever `work` does after that is dropped.
   *
   * @param who who is waited for, for the message of `expired`
   */
  within<T>(who: string, work: PromiseLike<T>): Promise<T> {
    // `resolve`, because the `then` of somebody else's thenable may throw, or call back twice.
    const settling = Promise.resolve(work);
    if (this.#timeoutMs === 0) return settling;
    return new Promise<T>((resolve, reject) => {
      let pending = true;
      // Both handlers at once: after the deadline nobody else would catch a rejection.
      settling.then(
        (value) => {
          pending = false;
          resolve(value);
        },
        (error) => {
          pending = false;
          reject(error);
        },
      );
      this.#expire = () => {
        this.expired = new DOMException(`${who} did not answer within ${this.#timeoutMs} ms`, 'TimeoutError');
        reject(this.expired);
      };
      // A timer costs more than all the rest of this class, and work that is done already needs none.
      if (!this.#timer) turn.then(() => pending && this.#start());
    });
  }

  /** Fires at the deadline and when the client goes away; never once the request is answered. */
  get signal(): Signal {
    if (!this.#controller) {
      const controller = new AbortController();
      const client = this.#request.signal;
      const clientGone = () => controller.abort(client?.reason);
      if (this.expired) controller.abort(this.expired);
      else if (client?.aborted) clientGone();
      else if (!this.#closed) client?.addEventListener('abort', clientGone);
      this.#controller = controller;
      this.#release = () => client?.removeEventListener('abort', clientGone);
    }
    return this.#controller.signal;
  }

  /** Stops the timer and lets the client's signal go. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#release?.();
  }

  #start(): void {
    this.#timer = setTimeout(() => {
      this.#expire?.();
      this.#controller?.abort(this.expired);
    }, this.#timeoutMs);
  }
}
