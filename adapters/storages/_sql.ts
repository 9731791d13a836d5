import {
  type BatchCall,
  type CreateMany,
  type CreateOutcome,
  type GroupCommitOptions,
  groupCommit,
  type MaybePromise,
  type NewPlant,
  type PlantStorage,
  RolledBack,
  StorageBusy,
  type Whole,
} from '../../src/index.js';

/** The options of the SQL storages. Their tables are one namespace. */
export interface SqlOptions extends Omit<GroupCommitOptions, 'namespace'> {
  /**
   * The table's name; it is quoted. In PostgreSQL its schema, in MySQL its database may stand in front, with a dot
   * between: `garden.plants`. Default: `plants`.
   */
  readonly table?: string | undefined;
}

/** A storage that can read its plants and make its table. */
export interface SqlStorage extends PlantStorage {
  /** Makes the table unless there is one. Safe while other instances do the same, and can be called again. */
  readonly createTable: () => Promise<void>;
  readonly find: NonNullable<PlantStorage['find']>;
}

/** The definition of each column, in the SQL of one database: what a plant's table is created and accessed with. */
export type Columns = Record<keyof NewPlant, string>;

/** The plant in a row of its columns. The id is the one that was looked for: drivers round numbers beyond 2^53. */
export function plantOf(id: bigint, row: Record<string, unknown> | undefined): Whole<NewPlant> | undefined {
  return row && { id, name: row.name as string, tag: (row.tag as string | null) ?? undefined };
}

/** The values of a plant's columns, in their order. An absent member is null. */
export function valuesOf(columns: Columns, plant: NewPlant): (string | null)[] {
  return membersOf(columns).map((member) => {
    const value = plant[member];
    return value === undefined ? null : String(value);
  });
}

export function membersOf(columns: Columns): (keyof NewPlant)[] {
  return Object.keys(columns) as (keyof NewPlant)[];
}

/** The columns as `CREATE TABLE` lists them. */
export function definitionsOf(columns: Columns): string {
  return membersOf(columns)
    .map((member) => `${member} ${columns[member]}`)
    .join(', ');
}

/**
 * What an error says of the plants that were sent. `transient`: nothing was stored, and sending again may help.
 * `permanent`: nothing was stored, and sending again cannot help. `rejected`: nothing was stored, maybe because of
 * a plant of the batch. `unknown`: the plants may or may not be stored.
 */
export type Meaning = 'transient' | 'permanent' | 'rejected' | 'unknown';

/** The error to throw at `groupCommit`, which sends again what was surely rolled back. */
function classified(error: unknown, meaning: Meaning): unknown {
  if (meaning === 'transient') return new RolledBack('together', error);
  if (meaning === 'rejected') return new RolledBack('apart', error);
  if (meaning === 'permanent')
    return new StorageBusy('the database refused the connection', { cause: error });
  return error;
}

/** A database server, as one table of it is used. */
export interface Server<Connection> {
  connect(): MaybePromise<Connection>;
  /** Gives a connection back, or throws it away if after `error` it may hold half an answer. */
  release(connection: Connection, error?: unknown): void;
  /** What an error of `connect`, after which nothing was sent, or of a statement means. */
  meaningOf(error: unknown, isConnecting: boolean): Meaning;
  insert(connection: Connection, plants: readonly NewPlant[]): Promise<CreateOutcome[]>;
  select(connection: Connection, id: string): Promise<Record<string, unknown> | undefined>;
  createTable(connection: Connection): Promise<unknown>;
}

/** Keeps plants in a table of a server. A statement may take `timeoutMs`, as a create may. */
export function serverStorage<Connection>(server: Server<Connection>, options: SqlOptions): SqlStorage {
  const { timeoutMs = 10_000 } = options;
  type Work<T> = (connection: Connection) => Promise<T>;

  /** Runs `work` until the call is aborted, because a frozen server would keep the connection for ever. */
  async function onConnection<T>(call: BatchCall, work: Work<T>): Promise<T> {
    const { signal } = call;
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(new Error(`the database did not answer within ${timeoutMs} ms`));
      signal.addEventListener('abort', onAbort);
    });
    call.sent = false;
    const connecting = Promise.resolve(server.connect());
    let failure: unknown;
    try {
      const connection = await Promise.race([connecting, aborted]);
      call.sent = true;
      return await Promise.race([work(connection), aborted]);
    } catch (error) {
      const cause = error ?? new Error('the driver failed without an error');
      if (call.sent) failure = cause;
      throw cause;
    } finally {
      signal.removeEventListener('abort', onAbort!);
      // A connection that comes too late is given back too.
      connecting.then((connection) => server.release(connection, failure)).catch(() => {});
    }
  }

  // Test clocks do not fake this timer, and it keeps no process alive: the connection does.
  const inTime = <T>(work: Work<T>) =>
    onConnection({ sent: true, signal: AbortSignal.timeout(timeoutMs) }, work);

  return {
    ...commitTogether((plants, _contexts, call) => {
      const inserting = onConnection(call, (connection) => server.insert(connection, plants));
      return inserting.catch((error) => {
        throw classified(error, server.meaningOf(error, !call.sent));
      });
    }, options),
    find: async (id) => plantOf(id, await inTime((connection) => server.select(connection, String(id)))),
    async createTable() {
      const make = () => inTime((connection) => server.createTable(connection));
      // IF NOT EXISTS can race: the loser gets an error of the catalogue; its second try finds the table.
      await make().catch(make);
    },
  };
}

/** `groupCommit` with the options of an SQL storage. */
export function commitTogether(createMany: CreateMany<unknown>, options: SqlOptions): PlantStorage {
  const { table: _, ...groupOptions } = options;
  if ('namespace' in groupOptions) {
    throw new TypeError(
      'namespace is not supported here: the table has one id column for all callers; use groupCommit directly',
    );
  }
  return groupCommit(createMany, groupOptions);
}

/** Ids travel as text, because drivers round numbers beyond 2^53. */
export type IdRow = { readonly id: string };

/**
 * What became of each plant, by the rows that INSERT returned and those of its ids that are stored. A plant that is in
 * neither gets an Error, because a trigger may drop rows silently, and `taken` would be untrue.
 *
 * @param unknown why the stored rows could not be read
 */
export function outcomesOf(
  plants: readonly NewPlant[],
  createdRows: readonly IdRow[],
  storedRows: readonly IdRow[] = [],
  unknown?: Error,
): CreateOutcome[] {
  if (createdRows.length === plants.length) return plants.map(() => 'created');
  const created = new Set(createdRows.map(({ id }) => id));
  const stored = new Set(storedRows.map(({ id }) => id));
  return plants.map(({ id }) => {
    if (created.has(String(id))) return 'created';
    if (stored.has(String(id))) return 'taken';
    const dropped = `plant ${id} was neither inserted nor found: check the table's triggers and policies`;
    return unknown ?? new Error(dropped);
  });
}

/**
 * Quotes the name of a table.
 *
 * @param name `plants` unless given
 * @param mark the quotation mark of the database
 * @param container what may stand before the name, with a dot between; without it a dot is part of the name
 * @param maxBytes the longest name, in bytes of UTF-8, if the database cuts longer ones
 * @throws {TypeError} if it is no such name
 */
export function quote(name: unknown = 'plants', mark: string, container?: string, maxBytes = 0): string {
  const parts = container ? String(name).split('.') : [String(name)];
  const isTooLong = (part: string) => maxBytes > 0 && new TextEncoder().encode(part).length > maxBytes;
  const isName = (part: string) => part !== '' && !part.includes('\0') && !isTooLong(part);
  if (typeof name !== 'string' || parts.length > 2 || !parts.every(isName)) {
    const limit = maxBytes > 0 ? ` of at most ${maxBytes} bytes` : '';
    const orBoth = container ? `, or a ${container} and a name with a dot between` : '';
    throw new TypeError(`table must be a name${limit}${orBoth}`);
  }
  return parts.map((part) => mark + part.replaceAll(mark, mark + mark) + mark).join('.');
}
