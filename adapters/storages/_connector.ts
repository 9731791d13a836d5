/** Where connections come from. */
export interface Pool<Connection> {
  connect(): Promise<Connection>;
  /** Releases a connection, or discards it if after `error` it may still hold half a response. */
  release(connection: Connection, error?: unknown): void;
}

/** Maximum pending connects, however long an outage lasts: a pool with a hung login in each slot never recovers. */
const maxPending = 4;

/** Bounds a pool's connects. One that outlasts its call serves the next call, because a login may be slow. */
export class Connector<Connection> {
  /** Each is called with a connect that has settled. */
  readonly #waiting = new Set<(connecting: Promise<Connection>) => void>();
  #pending = 0;

  constructor(readonly pool: Pool<Connection>) {}

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
    if (this.#pending === maxPending) return;
    this.#pending++;
    const connecting = this.pool.connect();
    const settle = () => {
      this.#pending--;
      const [serve] = this.#waiting;
      if (!serve) return void connecting.then((connected) => this.pool.release(connected)).catch(() => {});
      this.#waiting.delete(serve);
      serve(connecting);
      if (this.#waiting.size > this.#pending) this.#connect();
    };
    connecting.then(settle, settle);
  }
}
