import type { PlantRequest, Signal } from './http.js';

/** The time one request has: at most one timer, and an `AbortSignal` for those who ask for it. */
export class Deadline {
  /** The error of the deadline, once it has passed. */
  expired: DOMException | undefined;
  readonly #request: PlantRequest;
  readonly #timeoutMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expire: (() => void) | undefined;
  #controller: AbortController | undefined;
  #client: Signal | undefined;
  #closed = false;

  /** @param timeoutMs milliseconds, 0 for no limit */
  constructor(timeoutMs: number, request: PlantRequest) {
    this.#timeoutMs = timeoutMs;
    this.#request = request;
  }

  /**
   * Resolves as `work` does. Rejects with what `refusalOf` makes of its error, or of `expired` at the deadline;
   * whatever `work` does after that is dropped.
   *
   * @param who who is waited for, for the message of `expired`
   */
  within<T>(
    who: string,
    work: PromiseLike<T>,
    refusalOf: (error: unknown, deadline: this) => unknown,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let pending = true;
      const fail = (error: unknown) => {
        pending = false;
        reject(refusalOf(error, this));
      };
      // Both handlers at once: after the deadline nobody else would catch a rejection. And `resolve`, because the
      // `then` of somebody else's thenable may throw, or call back twice.
      Promise.resolve(work).then((value) => {
        pending = false;
        resolve(value);
      }, fail);
      this.#expire = () => {
        this.expired = new DOMException(`${who} did not answer within ${this.#timeoutMs} ms`, 'TimeoutError');
        fail(this.expired);
      };
      // A timer costs more than all the rest of this class, and work that is done already needs none.
      if (!this.#timer && this.#timeoutMs > 0) queueMicrotask(() => pending && this.#start());
    });
  }

  /** Fires at the deadline and when the client goes away; never once the request is answered. */
  get signal(): Signal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#client = this.#request.signal;
      if (this.expired) this.#controller.abort(this.expired);
      else if (this.#client?.aborted) this.#clientGone();
      else if (!this.#closed) this.#client?.addEventListener('abort', this.#clientGone);
    }
    return this.#controller.signal;
  }

  /** Stops the timer and lets the client's signal go. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#client?.removeEventListener('abort', this.#clientGone);
  }

  #start(): void {
    this.#timer = setTimeout(() => {
      this.#expire?.();
      this.#controller?.abort(this.expired);
    }, this.#timeoutMs);
  }

  readonly #clientGone = (): void => this.#controller?.abort(this.#client?.reason);
}
