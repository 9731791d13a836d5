import { type BatchCall, type CreateOutcome, RolledBack, StorageBusy } from '../../src/index.js';
import { type Column, checkTrailingSpaces, inOrder, Rejection, UnusableTable } from './_columns.js';
import { Connector, type Pool } from './_connector.js';
import type { Row, Rows } from './_rows.js';
import type { SqlOptions, StoredTable } from './_sql.js';
import type { Table } from './_table.js';
import { Watch } from './_watch.js';

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

/** A column of a table of a server. */
export interface ServerColumn extends Column {
  /** In SQL, how a value that travels as text becomes one of its type. */
  readonly cast: string;
  readonly isJson?: boolean;
}

/** A database server, and a table there. `Sql` has the statements that fit the table's columns. */
export interface Server<Connection, Sql> {
  readonly pool: Pool<Connection>;
  /** What an error of a statement means; `isSent` is `false` if no plant was sent before it. */
  meaningOf(error: unknown, isSent: boolean): Meaning;
  /**
   * Finds the columns of the table; none if there is no table.
   *
   * @throws {UnusableTable} if it would change or lose plants
   */
  look(connection: Connection): Promise<readonly ServerColumn[]>;
  /** @param columns in the order of the table's; none if it shows none */
  sqlOf(columns: readonly ServerColumn[]): Sql;
  insert(connection: Connection, sql: Sql, rows: Rows): Promise<CreateOutcome[]>;
  select(connection: Connection, sql: Sql, key: Row): Promise<Record<string, unknown> | undefined>;
  createTable(connection: Connection): Promise<unknown>;
}

/** A table of a server. A statement has the same timeout as a create. */
export class ServerTable<Connection, Sql extends { readonly columns: readonly Column[] }>
  implements StoredTable
{
  readonly #timeoutMs: number;
  readonly #connector: Connector<Connection>;
  /** The calls that hold a connection or wait for one, and what aborts them. */
  readonly #running = new Map<BatchCall, () => void>();
  /** Listens to the calls that take long. A signal and a listener for each call would cost a sixth of a lone create. */
  readonly #watch = new Watch(50, () => this.#listen());
  #known: Sql | undefined;

  constructor(
    readonly table: Table,
    readonly server: Server<Connection, Sql>,
    readonly options: SqlOptions<never>,
  ) {
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#connector = new Connector(server.pool, this.#timeoutMs);
  }

  async insert(rows: Rows, call: BatchCall): Promise<CreateOutcome[]> {
    try {
      return await this.#onConnection(call, async (connection) => {
        const sql = await this.#sqlOn(connection);
        call.sent = true;
        checkTrailingSpaces(this.table.name, sql.columns, rows);
        return this.server.insert(connection, sql, rows);
      });
    } catch (error) {
      if (error instanceof UnusableTable || error instanceof Rejection) throw error;
      // One create reports the app's mistake. The others are sent on another connection.
      if (error instanceof OpenTransaction && rows.length > 1) {
        return [error, ...(await this.insert(rows.slice(1), call))];
      }
      throw classified(error, this.server.meaningOf(error, call.sent), rows.length);
    }
  }

  find(key: Row): Promise<Record<string, unknown> | undefined> {
    return this.#inTime(async (connection) =>
      this.server.select(connection, await this.#sqlOn(connection), key),
    );
  }

  async create(): Promise<void> {
    const make = () =>
      this.#inTime(async (connection) => {
        // Looked for first, because a role that may only SELECT and INSERT may not CREATE, even if it exists.
        if (await this.#look(connection)) return;
        await this.server.createTable(connection);
        await this.#look(connection);
      });
    // IF NOT EXISTS can race: the loser gets an error of the catalogue; its second try finds the table.
    await make().catch(make);
  }

  async #sqlOn(connection: Connection): Promise<Sql> {
    return this.#known ?? (await this.#look(connection)) ?? this.server.sqlOf([]);
  }

  /** Looks at the table: `undefined` if it shows nothing of itself. */
  async #look(connection: Connection): Promise<Sql | undefined> {
    const found = await this.server.look(connection).catch((error) => {
      // A database that has no such catalogue.
      if (this.server.meaningOf(error, true) === 'rejected') return [];
      throw error;
    });
    this.#known = found.length > 0 ? this.server.sqlOf(inOrder(this.table, found)) : undefined;
    return this.#known;
  }

  // Test clocks do not fake this timer, and it keeps no process alive: the connection does.
  #inTime<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#onConnection({ sent: true, signal: AbortSignal.timeout(this.#timeoutMs) }, work);
  }

  /** Runs `work` until the call is aborted, because a frozen server would hold the connection for ever. */
  async #onConnection<T>(call: BatchCall, work: (connection: Connection) => Promise<T>): Promise<T> {
    const { connection, release } = this.#connector.lease();
    let failure: unknown;
    call.sent = false;
    const aborted = new Promise<never>((_resolve, reject) => {
      this.#running.set(call, () =>
        reject(new Error(`the database did not answer within ${this.#timeoutMs} ms`)),
      );
    });
    this.#watch.set();
    try {
      const connected = await Promise.race([connection, aborted]);
      return await Promise.race([work(connected), aborted]);
    } catch (error) {
      const cause = (error as Error) ?? new Error('the driver failed without an error');
      // The connection has nothing to do with these, nor with a call that was aborted before it was sent.
      const isKept =
        cause instanceof UnusableTable || cause instanceof Rejection || cause.name === 'AbortError';
      if (!isKept) failure = cause;
      throw cause;
    } finally {
      this.#running.delete(call);
      release(failure);
    }
  }

  #listen(): void {
    for (const [{ signal }, onAbort] of this.#running) {
      if (signal.aborted) onAbort();
      // Once each, however often it is added.
      else signal.addEventListener('abort', onAbort);
    }
    if (this.#running.size > 0) this.#watch.set();
  }
}

/** The error to throw. `groupCommit` retries what the database rolled back. */
function classified(error: unknown, meaning: Meaning, count: number): unknown {
  if (error instanceof StorageBusy) return error;
  if (meaning === 'rejected') return new Rejection(error);
  if (meaning === 'transient') return new RolledBack('together', error);
  if (meaning === 'expired') return new RolledBack('apart', error);
  // Alone it is no fault of the plant: it is retried until it times out.
  if (meaning === 'locked') return new RolledBack(count > 1 ? 'apart' : 'together', error);
  if (meaning === 'permanent')
    return new StorageBusy('the database refused the connection', { cause: error });
  return error;
}
