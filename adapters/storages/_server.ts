import { type BatchCall, type CreateOutcome, RolledBack, StorageBusy } from '../../src/index.js';
import type { Row, Rows } from './_rows.js';
import type { SqlOptions, StoredTable } from './_sql.js';
import { type Fault, Rejection, type Table, Unusable } from './_table.js';

/**
 * What an error says of the plants that were sent. `transient`: nothing was stored, and sending again may help.
 * `permanent`: nothing was stored, and sending again cannot help. `locked`: nothing was stored, because another
 * transaction holds a lock that a plant needs. `expired`: nothing was stored, because the statement took too long.
 * `rejected`: nothing was stored, maybe because of a plant of the batch. `unknown`: the plants may or may not be stored.
 */
export type Meaning = 'transient' | 'permanent' | 'locked' | 'expired' | 'rejected' | 'unknown';

/** A connection came with a transaction of the app: its plants would be stored or lost with that. Nothing was stored. */
export class OpenTransaction extends StorageBusy {
  constructor(options?: ErrorOptions) {
    super(
      'the connection already has an open transaction: end every transaction before its connection is released',
      options,
    );
  }
}

/** Nobody waits for the call any more: its connection is discarded. */
export class Unanswered extends Error {}

/** Where connections come from. */
export interface Pool<Connection> {
  connect(): Promise<Connection>;
  /** Releases a connection, or discards it if after `error` it may still hold half a response. */
  release(connection: Connection, error?: unknown): void;
}

/** A database server, and the statements of one table there. */
export interface Server<Connection> extends Pool<Connection> {
  /** What an error of a statement means; `isSent` is `false` if no plant was sent before it. */
  meaningOf(error: unknown, isSent: boolean): Meaning;
  /** What an error says of the table, or that the server refuses the user or the database for good. */
  faultOf(error: unknown): Fault | 'login' | undefined;
  /**
   * Learns what the database shows of the table, and fits the statements to that.
   *
   * @throws {Unusable} if the table would change or lose plants
   */
  look(connection: Connection): Promise<void>;
  insert(connection: Connection, rows: Rows): Promise<CreateOutcome[]>;
  find(connection: Connection, key: Row): Promise<Record<string, unknown> | undefined>;
  createTable(connection: Connection): Promise<unknown>;
}

/** Maximum pending connects, however long an outage lasts: a pool with a hung login in each slot never recovers. */
const maxPending = 4;

/** A table of a server. A statement has the same timeout as a create. */
export class ServerTable<Connection> implements StoredTable {
  readonly #timeoutMs: number;
  /** The calls that wait for a connection. Each is called with a connect that has settled. */
  readonly #waiting = new Set<(connecting: Promise<Connection>) => void>();
  #pending = 0;
  /** The calls that hold a connection or wait for one, and what aborts them. */
  readonly #running = new Map<BatchCall, () => void>();
  #isWatching = false;

  constructor(
    readonly table: Table,
    readonly server: Server<Connection>,
    options: SqlOptions<never>,
  ) {
    this.#timeoutMs = options.timeoutMs ?? 10_000;
  }

  async insert(rows: Rows, call: BatchCall): Promise<CreateOutcome[]> {
    try {
      return await this.#send(rows, call, (connection) => this.server.insert(connection, rows));
    } catch (error) {
      // One create reports the app's mistake. The others are sent on another connection.
      if (error instanceof OpenTransaction && rows.length > 1) {
        return [error, ...(await this.insert(rows.slice(1), call))];
      }
      throw this.#explained(error, call.sent, rows.length);
    }
  }

  find(key: Row): Promise<Record<string, unknown> | undefined> {
    return this.#send([key], this.#call(), (connection) => this.server.find(connection, key));
  }

  async create(): Promise<void> {
    const make = () =>
      this.#onConnection(this.#call(), async (connection) => {
        // Looked for first, because a role that may only SELECT and INSERT may not CREATE, even if it exists.
        await this.#look(connection);
        if (this.table.isKnown) return;
        await this.server.createTable(connection);
        await this.#look(connection);
      });
    // IF NOT EXISTS can race: the loser gets an error of the catalogue; its second try finds the table.
    await make().catch(make);
  }

  /**
   * Runs a statement with these values as soon as the table is known to keep them.
   *
   * @throws {Unusable} if it says what is wrong with the table or the login
   */
  #send<T>(rows: Rows, call: BatchCall, run: (connection: Connection) => Promise<T>): Promise<T> {
    const sending = this.#onConnection(call, async (connection) => {
      if (!this.table.isKnown) await this.#look(connection);
      call.sent = true;
      this.table.check(rows);
      return run(connection);
    });
    return sending.catch((error) => {
      const fault = this.server.faultOf(error);
      // A server refuses a login before anything is sent: later, such an error is one of a trigger.
      if (!fault || (fault === 'login') === call.sent) throw error;
      if (fault !== 'login') throw this.table.faulty(fault, error) ?? error;
      const why = `${error.message}. Check user, password and database in the settings of the pool`;
      throw new Unusable(`plant-store cannot connect to the database: ${why}`, { cause: error });
    });
  }

  async #look(connection: Connection): Promise<void> {
    await this.server.look(connection).catch((error) => {
      // A database that has no such catalogue.
      if (error instanceof Unusable || this.server.meaningOf(error, true) !== 'rejected') throw error;
    });
  }

  // Test clocks do not fake this timer, and it keeps no process alive: the connection does.
  #call(): BatchCall {
    return { sent: false, signal: AbortSignal.timeout(this.#timeoutMs) };
  }

  /** Runs `work` until the call is aborted, because a frozen server would hold the connection for ever. */
  async #onConnection<T>(call: BatchCall, work: (connection: Connection) => Promise<T>): Promise<T> {
    let serve!: (connecting: Promise<Connection>) => void;
    const connection = new Promise<Connection>((resolve) => {
      serve = resolve;
    });
    this.#waiting.add(serve);
    this.#connect();
    let failure: unknown;
    call.sent = false;
    try {
      return await new Promise<T>((resolve, reject) => {
        const why = `the database did not answer within ${this.#timeoutMs} ms`;
        this.#running.set(call, () => reject(new Unanswered(why)));
        this.#watch();
        connection.then(work).then(resolve, reject);
      });
    } catch (error) {
      const cause = (error as Error) ?? new Error('the driver failed without an error');
      // The connection has nothing to do with these, nor with a call that was aborted before it was sent.
      const isKept = cause instanceof Unusable || cause instanceof Rejection || cause.name === 'AbortError';
      if (!isKept) failure = cause;
      throw cause;
    } finally {
      this.#running.delete(call);
      // A call that was aborted before it had a connection gets none.
      this.#waiting.delete(serve);
      connection.then((connected) => this.server.release(connected, failure)).catch(() => {});
    }
  }

  /** Connects for the call that has waited longest. A connect that outlasts its call serves the next: a login may be slow. */
  #connect(): void {
    if (this.#pending === maxPending) return;
    this.#pending++;
    const connecting = this.server.connect();
    const settle = () => {
      this.#pending--;
      const [serve] = this.#waiting;
      if (!serve) return void connecting.then((connected) => this.server.release(connected)).catch(() => {});
      this.#waiting.delete(serve);
      serve(connecting);
      if (this.#waiting.size > this.#pending) this.#connect();
    };
    connecting.then(settle, settle);
  }

  /** Looks for aborted calls now and then. A signal and a listener for each would cost a sixth of a lone create. */
  #watch(): void {
    if (this.#isWatching || this.#running.size === 0) return;
    this.#isWatching = true;
    // Test runners do not fake this timer, and it keeps no process alive.
    AbortSignal.timeout(50).addEventListener('abort', () => {
      this.#isWatching = false;
      for (const [{ signal }, abort] of this.#running) if (signal.aborted) abort();
      this.#watch();
    });
  }

  /** The error to throw. `groupCommit` retries what the database rolled back. */
  #explained(error: unknown, isSent: boolean, count: number): unknown {
    if (error instanceof StorageBusy || error instanceof Unusable || error instanceof Rejection) return error;
    const meaning = this.server.meaningOf(error, isSent);
    if (meaning === 'unknown') return error;
    if (meaning === 'rejected') return new Rejection(error);
    if (meaning === 'permanent')
      return new StorageBusy('the database refused the connection', { cause: error });
    // A locked plant alone is no fault of its own: it is retried until it times out.
    const isApart = meaning === 'expired' || (meaning === 'locked' && count > 1);
    return new RolledBack(isApart ? 'apart' : 'together', error);
  }
}

/** The most statements that a connection keeps prepared, of all storages together. */
const maxKept = 16;

/** A statement is dropped if its connection has run this many others since. */
const maxAge = 1_000;

/** When each connection has run each statement last, the latest last. */
const lately = new WeakMap<object, Map<unknown, number>>();
let now = 0;

/**
 * Whether a connection should keep this statement prepared: from its second use on, so that a storage for each of many
 * tenants fills no server with statements.
 *
 * @param drop called with a statement that it should keep no longer
 */
export function isKept<Sql>(connection: object, sql: Sql, drop: (sql: Sql) => void): boolean {
  const used = lately.get(connection) ?? new Map<unknown, number>();
  lately.set(connection, used);
  const isKnown = used.delete(sql);
  used.set(sql, ++now);
  const [oldest, at] = used.entries().next().value as [Sql, number];
  if (used.size > maxKept || now - at > maxAge) {
    used.delete(oldest);
    drop(oldest);
  }
  return isKnown;
}
