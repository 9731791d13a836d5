/** A pool's connect that has begun. */
export interface Connecting<Connection> {
  readonly connection: Promise<Connection>;
  /** Fails the connect. Absent if the driver does not show a connection before it is connected. */
  readonly abort?: (() => void) | undefined;
}

/** Where connections come from. */
export interface Pool<Connection> {
  connect(): Connecting<Connection>;
  /** Whether another connect would have to wait until a connection is released. */
  isFull(): boolean;
  /** Releases a connection, or discards it if after `error` it may still hold half a response. */
  release(connection: Connection, error?: unknown): void;
}

/** A connection, from the request for it to its release. */
export interface Lease<Connection> {
  readonly connection: Promise<Connection>;
  /** Can be called before there is a connection. */
  release(error?: unknown): void;
}

interface Waiter<Connection> {
  resolve(connection: Connection): void;
  reject(error: unknown): void;
}

interface Pending {
  readonly startedAt: number;
  readonly abort: (() => void) | undefined;
  isAborted: boolean;
}

/** Maximum pending connects, however long an outage lasts: a pool with a hung login in each slot never recovers. */
const maxPending = 4;

/** After this many milliseconds a pending connect may be hung, and another one is tried in addition. */
const hungMs = 400;

/**
 * Bounds a pool's connects. A connect that outlasts its call serves the next call, because a login may be slow. In
 * addition, a new connect is tried about every 500 ms, because a login that the network swallowed never settles.
 */
export class Connector<Connection> {
  readonly #waiting = new Set<Waiter<Connection>>();
  /** In the order in which they began. */
  readonly #pending = new Set<Pending>();
  #isWatching = false;

  /** @param patienceMs how long the oldest pending connect may last */
  constructor(
    readonly pool: Pool<Connection>,
    readonly patienceMs: number,
  ) {}

  lease(): Lease<Connection> {
    let waiter: Waiter<Connection> | undefined;
    const connection = new Promise<Connection>((resolve, reject) => {
      waiter = { resolve, reject };
    });
    this.#waiting.add(waiter!);
    this.#connect();
    return {
      connection,
      release: (error) => {
        this.#waiting.delete(waiter!);
        connection.then((connected) => this.pool.release(connected, error)).catch(() => {});
      },
    };
  }

  #connect(): void {
    const pending = [...this.#pending];
    const isHung = pending.length > 0 && ageOf(pending.at(-1)!) >= hungMs;
    if (pending.length < Math.min(this.#waiting.size, maxPending)) this.#begin();
    else if (this.#waiting.size > 0 && isHung) {
      if (pending.length < maxPending && !this.pool.isFull()) this.#begin();
      else this.#abortOne(pending);
    }
    this.#watch();
  }

  #begin(): void {
    try {
      const { connection, abort } = this.pool.connect();
      const pending = { startedAt: performance.now(), abort, isAborted: false };
      this.#pending.add(pending);
      connection.then(
        (connected) => this.#settle(pending, connected),
        (error) => this.#settle(pending, undefined, error),
      );
    } catch (error) {
      this.#next()?.reject(error);
    }
  }

  #settle(pending: Pending, connected: Connection | undefined, error?: unknown): void {
    this.#pending.delete(pending);
    if (connected === undefined) {
      if (!pending.isAborted) this.#next()?.reject(error);
    } else {
      const waiter = this.#next();
      if (waiter) waiter.resolve(connected);
      else this.pool.release(connected);
    }
    this.#connect();
  }

  #next(): Waiter<Connection> | undefined {
    const [waiter] = this.#waiting;
    if (waiter) this.#waiting.delete(waiter);
    return waiter;
  }

  /** Makes room for a new connect: aborts the oldest if it has timed out, otherwise the youngest of the others. */
  #abortOne([oldest, ...others]: readonly Pending[]): void {
    const isOver = ageOf(oldest!) >= this.patienceMs;
    const hung = [...(isOver ? [oldest!] : []), ...others.reverse()];
    const victim = hung.find(({ abort, isAborted }) => abort && !isAborted);
    if (!victim) return;
    victim.isAborted = true;
    victim.abort!();
  }

  /** Looks again soon. The sockets of the pending connects keep the process alive, this timer does not. */
  #watch(): void {
    if (this.#isWatching || this.#waiting.size === 0) return;
    this.#isWatching = true;
    AbortSignal.timeout(hungMs / 2).addEventListener('abort', () => {
      this.#isWatching = false;
      this.#connect();
    });
  }
}

function ageOf({ startedAt }: Pending): number {
  return performance.now() - startedAt;
}
