import { StorageBusy } from '../../../src/index.js';

/** Where connections come from. */
export interface Pool<Connection> {
  connect(): Promise<Connection>;
  release(connection: Connection, isReusable: boolean): void;
}

/** One connection of a pool, which is given back once: by the task that has ended, or by its timeout. */
export class Checkout<Connection> {
  connection: Connection | undefined;
  #isOver = false;

  constructor(readonly pool: Pool<Connection>) {}

  /**
   * Takes the connection. A login may be slow: one that comes after the timeout goes back to the pool, to be used by another
   * call.
   */
  async begin(): Promise<Connection> {
    const connection = await this.pool.connect();
    if (this.#isOver) {
      this.pool.release(connection, true);
      throw new StorageBusy('the connection came after the timeout');
    }
    this.connection = connection;
    return connection;
  }

  /** @param isReusable otherwise the connection is closed */
  end(isReusable: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.connection) this.pool.release(this.connection, isReusable);
  }
}
