import type { PlantRequest, Signal } from './http.js';

const settled = Promise.resolve();

/**
 * A timer that outlives its request can serve all requests, which saves a sixth of `toFetch`'s cost on Deno. On Workers
 * a timer ends with the request that started it; on Node and Bun timers are cheap enough.
 */
const timersAreShared = 'Deno' in globalThis;

/** The deadlines of one store. All take equally long, so they pass in the order in which they were started. */
export class Deadlines {
  readonly #waiting = new Set<Deadline>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param timeoutMs milliseconds, 0 for no limit */
  constructor(
    readonly timeoutMs: number,
    readonly isShared: boolean = timersAreShared,
  ) {}

  /** Starts a deadline. Returns what stops it. */
  start(deadline: Deadline): () => void {
    if (!this.isShared) {
      const timer = setTimeout(() => deadline.pass(), this.timeoutMs);
      return () => clearTimeout(timer);
    }
    deadline.passesAt = performance.now() + this.timeoutMs;
    this.#waiting.add(deadline);
    if (this.#timer === undefined) this.#wait(this.timeoutMs);
    else this.#timer.ref?.();
    return () => {
      this.#waiting.delete(deadline);
      if (this.#waiting.size === 0) this.#rest();
    };
  }

  /** Leaves the timer for the next request, but keeps no process alive that has nothing else to do. */
  #rest(): void {
    if (typeof this.#timer === 'object') return void this.#timer.unref();
    // In older Denos a timer is a number.
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const deadline of this.#waiting) {
        const left = deadline.passesAt - performance.now();
        // Rounded up: a timer may be a fraction of a millisecond early.
        if (left > 0) return this.#wait(Math.ceil(left));
        this.#waiting.delete(deadline);
        deadline.pass();
      }
    }, ms);
  }
}

/** One request's time limit, and an AbortSignal that is made when it is first read. */
export class Deadline {
  /** The error that `within` rejects with, once the deadline has passed. */
  expired: DOMException | undefined;
  /** Of a shared timer: when this deadline passes, in milliseconds of `performance.now`. */
  passesAt = 0;
  readonly #deadlines: Deadlines;
  readonly #request: PlantRequest;
  #stop: (() => void) | undefined;
  #expire: (() => void) | undefined;
  #controller: AbortController | undefined;
  #unlisten: (() => void) | undefined;
  #closed = false;

  constructor(deadlines: Deadlines, request: PlantRequest) {
    this.#deadlines = deadlines;
    this.#request = request;
  }

  /**
   * Settles as `work` does, or rejects with `expired` at the deadline; what `work` does after that is dropped.
   *
   * @param who named in the error message
   */
  within<T>(who: string, work: PromiseLike<T>): Promise<T> {
    // Wrapped: a foreign `then` may throw or call back twice.
    const settling = Promise.resolve(work);
    const { timeoutMs } = this.#deadlines;
    if (timeoutMs === 0) return settling;
    return new Promise<T>((resolve, reject) => {
      let pending = true;
      // Both handlers now: after the deadline, nothing else would catch a rejection.
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
        this.expired = new DOMException(`${who} did not answer within ${timeoutMs} ms`, 'TimeoutError');
        reject(this.expired);
      };
      // Started one microtask later, because work that is already done needs no timer. Gain: 0.7 µs a request.
      if (!this.#stop) {
        settled.then(() => {
          if (pending) this.#stop = this.#deadlines.start(this);
        });
      }
    });
  }

  /** Fires at the deadline and when the client goes away; never after the request is answered. */
  get signal(): Signal {
    if (!this.#controller) {
      const controller = new AbortController();
      const client = this.#request.signal;
      const clientGone = () => controller.abort(client?.reason);
      if (this.expired) controller.abort(this.expired);
      else if (client?.aborted) clientGone();
      else if (!this.#closed) client?.addEventListener('abort', clientGone);
      this.#controller = controller;
      this.#unlisten = () => client?.removeEventListener('abort', clientGone);
    }
    return this.#controller.signal;
  }

  /** Called when the time is up. */
  pass(): void {
    this.#expire?.();
    this.#controller?.abort(this.expired);
  }

  /** Stops the timer and stops listening to the client's signal. */
  close(): void {
    this.#closed = true;
    this.#stop?.();
    try {
      this.#unlisten?.();
    } catch {} // The client's signal is the host's own and may be no real AbortSignal.
  }
}
