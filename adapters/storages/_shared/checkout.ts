import { isWorkers, OwnError, systemClock, wordsBefore } from '../../../src/for-storages.js';
import { type BatchCall, StorageBusy } from '../../../src/index.js';

/** Where connections come from. */
export interface Pool<Connection> {
  connect(): Promise<Connection>;
  release(connection: Connection, isReusable: boolean): void;
  /** Whether each call on its connections ends in the iteration of the event loop in which it began: before a timer can fire. */
  readonly endsInOneTurn?: boolean;
  /** Returns what the pool tells of its connections, if it tells it, while somebody waits for one. */
  shortage?(): string | undefined;
}

/** @param shortage what the pool tells of its connections */
export function noConnection(shortage: string | undefined, cause?: unknown): Error {
  const text = `the pool gave no connection${shortage ? `: ${shortage}` : ''}`;
  // There a connection can be used by the request alone that has opened it.
  const remedy = isWorkers() ? '. On Workers, make a pool for each request' : '';
  return new OwnError(text + remedy, { cause });
}

/**
 * How long a call may take before its signal is read, in milliseconds. Most calls end before, and a signal with a listener takes
 * a tenth of the time of a lone create. A call that is aborted before is found aborted then.
 */
const unwatchedMs = 50;

/** One connection of a pool, which is given back once: by the task that has ended, or because its call was aborted. */
export class Checkout<Connection> {
  connection: Connection | undefined;
  #isOver = false;
  #timer: unknown;

  constructor(readonly pool: Pool<Connection>) {}

  /** Gives the connection back, to be closed, when the call is aborted: its server may be frozen. */
  watch(call: BatchCall, onAbort: () => void): void {
    if (this.pool.endsInOneTurn) return;
    const abort = () => {
      onAbort();
      this.end(false);
    };
    this.#timer = systemClock.setTimer(() => {
      if (call.signal.aborted) abort();
      else call.signal.addEventListener('abort', abort, { once: true });
    }, unwatchedMs);
  }

  /**
   * Takes a connection. A login may be slow: one that comes after the timeout goes back to the pool, to be used by another call.
   *
   * @throws {StorageBusy} if the call is over
   */
  async connect(): Promise<Connection> {
    let connection: Connection;
    try {
      connection = await this.pool.connect();
    } catch (error) {
      wordsBefore(error, 'no connection: check host, port and TLS options of the pool');
      throw error;
    }
    if (this.#isOver) {
      this.pool.release(connection, true);
      throw new StorageBusy('the connection came after the timeout');
    }
    this.connection = connection;
    return connection;
  }

  /** What it waits for, in words, until it has a connection. */
  waitsFor(): string | undefined {
    return this.connection ? undefined : noConnection(this.pool.shortage?.()).message;
  }

  /** @param isReusable otherwise the connection is closed */
  end(isReusable: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    systemClock.clearTimer(this.#timer);
    if (this.connection) this.pool.release(this.connection, isReusable);
  }
}
