import {
  type BatchCall,
  type CreateMany,
  type CreateOutcome,
  type NewPlant,
  RolledBack,
  StorageBusy,
} from '../../src/index.js';
import { Connector, type Lease, type Pool } from './_connector.js';
import { commitTogether, rejected, type SqlOptions, type SqlStorage } from './_sql.js';
import { plantOf, TooLong, UnusableTable } from './_table.js';

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

/** A database server, as one table of it is used. `Table` is what is known of that table. */
export interface Server<Connection, Table> {
  /** A pool, or the one connection that the app gave. */
  readonly source: Pool<Connection> | { readonly connection: Connection };
  /** What an error of a statement means; `isSent` is `false` if no plant was sent before it. */
  meaningOf(error: unknown, isSent: boolean): Meaning;
  /** @throws {OpenTransaction} if the connection is known to be in a transaction */
  checkOut?(connection: Connection): void;
  /** What to assume of a table that shows nothing of itself. */
  readonly assumed: Table;
  /**
   * Looks at the table: `undefined` if there is none.
   *
   * @throws {UnusableTable} if it would change or lose plants
   */
  look(connection: Connection): Promise<Table | undefined>;
  insert(connection: Connection, table: Table, plants: readonly NewPlant[]): Promise<CreateOutcome[]>;
  select(connection: Connection, table: Table, id: bigint): Promise<Record<string, unknown> | undefined>;
  createTable(connection: Connection): Promise<unknown>;
}

/** Stores plants in a table of a server. A statement has the same timeout as a create. */
export function serverStorage<Connection, Table>(
  server: Server<Connection, Table>,
  options: SqlOptions,
): SqlStorage {
  const table = new ServerTable(server, options);
  return {
    ...commitTogether((plants, contexts, call) => table.insert(plants, contexts, call), options),
    find: (id) => table.find(id),
    createTable: () => table.create(),
  };
}

type Work<Connection, T> = (connection: Connection) => Promise<T>;

class ServerTable<Connection, Table> {
  readonly #server: Server<Connection, Table>;
  readonly #options: SqlOptions;
  readonly #timeoutMs: number;
  readonly #lease: () => Lease<Connection>;
  #known: Table | undefined;

  constructor(server: Server<Connection, Table>, options: SqlOptions) {
    this.#server = server;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#lease = leasesOf(server.source, this.#timeoutMs);
  }

  async insert(...[plants, contexts, call]: Parameters<CreateMany<unknown>>): Promise<CreateOutcome[]> {
    try {
      return await this.#onConnection(call, async (connection) => {
        const table = await this.#look(connection);
        call.sent = true;
        return this.#server.insert(connection, table, plants);
      });
    } catch (error) {
      if (error instanceof UnusableTable) return plants.map(() => new RolledBack('apart', error));
      // One create reports the app's mistake. The others are sent on another connection.
      if (error instanceof OpenTransaction && 'connect' in this.#server.source && plants.length > 1) {
        return [error, ...(await this.insert(plants.slice(1), contexts.slice(1), call))];
      }
      const meaning = error instanceof TooLong ? 'rejected' : this.#server.meaningOf(error, call.sent);
      if (meaning === 'rejected') return rejected(error, plants, this.#options.refuse);
      throw classified(error, meaning, plants.length);
    }
  }

  async find(id: bigint): Promise<NewPlant | undefined> {
    const select = async (connection: Connection) =>
      this.#server.select(connection, await this.#look(connection), id);
    return plantOf(id, await this.#inTime(select));
  }

  async create(): Promise<void> {
    const make = () =>
      this.#inTime(async (connection) => {
        // Looked for first, because a role that may only SELECT and INSERT may not CREATE, even if it exists.
        if (await this.#server.look(connection)) return;
        await this.#server.createTable(connection);
        await this.#server.look(connection);
      });
    // IF NOT EXISTS can race: the loser gets an error of the catalogue; its second try finds the table.
    await make().catch(make);
  }

  async #look(connection: Connection): Promise<Table> {
    this.#known ??= await this.#server.look(connection);
    return this.#known ?? this.#server.assumed;
  }

  // Test clocks do not fake this timer, and it keeps no process alive: the connection does.
  #inTime<T>(work: Work<Connection, T>): Promise<T> {
    return this.#onConnection({ sent: true, signal: AbortSignal.timeout(this.#timeoutMs) }, work);
  }

  /** Runs `work` until the call is aborted, because a frozen server would hold the connection for ever. */
  async #onConnection<T>(call: BatchCall, work: Work<Connection, T>): Promise<T> {
    const { signal } = call;
    const { connection: leased, release } = this.#lease();
    let failure: unknown;
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(new Error(`the database did not answer within ${this.#timeoutMs} ms`));
      signal.addEventListener('abort', onAbort);
    });
    const untilAbort = <R>(step: Promise<R>) => Promise.race([step, aborted]);
    call.sent = false;
    try {
      const connection = await untilAbort(leased);
      this.#server.checkOut?.(connection);
      return await untilAbort(work(connection));
    } catch (error) {
      const cause = error ?? new Error('the driver failed without an error');
      // The connection has nothing to do with these.
      if (!(cause instanceof UnusableTable || cause instanceof TooLong)) failure = cause;
      throw cause;
    } finally {
      signal.removeEventListener('abort', onAbort!);
      release(failure);
    }
  }
}

/** The error to throw to `groupCommit`, which retries what the database rolled back. */
function classified(error: unknown, meaning: Meaning, count: number): unknown {
  if (error instanceof StorageBusy) return error;
  if (meaning === 'transient') return new RolledBack('together', error);
  if (meaning === 'expired') return new RolledBack('apart', error);
  // Alone it is no fault of the plant: it is retried until it times out.
  if (meaning === 'locked') return new RolledBack(count > 1 ? 'apart' : 'together', error);
  if (meaning === 'permanent')
    return new StorageBusy('the database refused the connection', { cause: error });
  return error;
}

function leasesOf<Connection>(
  source: Server<Connection, unknown>['source'],
  timeoutMs: number,
): () => Lease<Connection> {
  if ('connect' in source) {
    const connector = new Connector(source, timeoutMs);
    return () => connector.lease();
  }
  // Only what was checked out is released.
  return () => ({ connection: Promise.resolve(source.connection), release() {} });
}
