import { Watch } from './_watch.js';

/** Where connections come from. */
export interface Pool<Connection> {
  /** `abort` fails the connect. It is absent if the driver does not show a connection before it is connected. */
  connect(): { readonly connection: Promise<Connection>; readonly abort?: (() => void) | undefined };
  /** Whether another connect would have to wait until a connection is released. */
  isFull(): boolean;
  /** Releases a connection, or discards it if after `error` it may still hold half a response. */
  release(connection: Connection, error?: unknown): void;
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
  /** Each is called with a connect that has settled. */
  readonly #waiting = new Set<(connecting: Promise<Connection>) => void>();
  /** In the order in which they began. */
  readonly #pending = new Set<Pending>();
  /** The sockets of the pending connects keep the process alive. */
  readonly #watch = new Watch(hungMs / 2, () => this.#connect());

  /** @param patienceMs how long the oldest pending connect may last */
  constructor(
    readonly pool: Pool<Connection>,
    readonly patienceMs: number,
  ) {}

  /** A connection, and its release, which can be called before there is one. */
  lease() {
    let serve!: (connecting: Promise<Connection>) => void;
    const connection = new Promise<Connection>((resolve) => {
      serve = resolve;
    });
    this.#waiting.add(serve);
    this.#connect();
    const release = (error?: unknown) => {
      this.#waiting.delete(serve);
      connection.then((connected) => this.pool.release(connected, error)).catch(() => {});
    };
    return { connection, release };
  }

  #connect(): void {
    if (this.#waiting.size === 0) return;
    const [oldest, ...others] = this.#pending;
    const now = performance.now();
    const isHung = oldest !== undefined && now - (others.at(-1) ?? oldest).startedAt >= hungMs;
    const isMissing = this.#pending.size < this.#waiting.size || (isHung && !this.pool.isFull());
    if (isMissing && this.#pending.size < maxPending) this.#begin();
    else if (isHung) {
      // Makes room for a new connect: aborts the oldest if it has timed out, otherwise the youngest of the others.
      const isOver = now - oldest.startedAt >= this.patienceMs;
      const victims = [...(isOver ? [oldest] : []), ...others.reverse()];
      const victim = victims.find(({ abort, isAborted }) => abort && !isAborted);
      if (victim) {
        victim.isAborted = true;
        victim.abort!();
      }
    }
    this.#watch.set();
  }

  #begin(): void {
    const { connection, abort } = this.pool.connect();
    const pending: Pending = { startedAt: performance.now(), abort, isAborted: false };
    this.#pending.add(pending);
    const settle = (isConnected: boolean) => {
      this.#pending.delete(pending);
      const [serve] = isConnected || !pending.isAborted ? this.#waiting : [];
      if (serve) {
        this.#waiting.delete(serve);
        serve(connection);
      } else connection.then((connected) => this.pool.release(connected)).catch(() => {});
      this.#connect();
    };
    connection.then(
      () => settle(true),
      () => settle(false),
    );
  }
}
