// Handles on SQLite, one of each kind. `libsql` and `libsql/promise` are the real libraries. The others are stand-ins over the blocking
// driver, which have the methods, the transactions and the errors that their libraries document: so each runs without them.
import Database from 'libsql';
import AsyncDatabase from 'libsql/promise';
import type { SqliteHandle } from 'plant-store/sqlite';

type Connection = Database.Database;
type Row = Record<string, unknown>;
/** As the blocking driver throws them. */
type SqliteError = Error & { readonly code: string };

interface OpenedHandle {
  readonly handle: SqliteHandle;
  /** Runs statements of the app, on the connection of the handle if it shows one. */
  readonly run: (sql: string) => Promise<unknown>;
  readonly rows: (sql: string) => Promise<Row[]>;
  /** Closes what the app can close. */
  readonly close: () => void;
}

/** What a network does to the next message. */
export interface Network {
  next?:
    | 'lost before it was sent'
    | 'lost after it was done'
    | 'failed unsent'
    | 'failed when done'
    | 'reset unsent'
    | 'reset when done'
    | undefined;
  /** How the error of a reset begins. */
  prefix?: string;
}

interface Kind {
  readonly open: (file: string, network: Network) => OpenedHandle;
  /** Whether the storage runs on the connection of the app: then TEMP triggers, other files and open transactions of it matter. */
  readonly sharesConnection: boolean;
  /** Whether its errors have SQLite's result. Without it, what a plant may have met is found out by another plant. */
  readonly hasResults: boolean;
  /** Whether a message can get lost. */
  readonly isFarAway: boolean;
  /** Whether the handle shows that the app has closed it. */
  readonly showsClosed: boolean;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export function connect(file: string): Connection {
  const connection = new Database(file);
  connection.exec('PRAGMA foreign_keys=ON; PRAGMA synchronous=OFF');
  return connection;
}

/** Runs a statement, and returns its rows, if it has any. */
function query(connection: Connection, sql: string, values: readonly unknown[] = []): Row[] {
  if (/^(BEGIN|COMMIT|ROLLBACK)/.test(sql)) {
    connection.exec(sql);
    return [];
  }
  const statement = connection.prepare(sql);
  if (statement.reader) return statement.all(...values) as Row[];
  statement.run(...values);
  return [];
}

/** Runs a task whose errors are those of a library. */
function as<T>(convert: (error: SqliteError) => unknown, task: () => T): T {
  try {
    return task();
  } catch (error) {
    throw convert(error as SqliteError);
  }
}

/** Runs a task in a transaction, as a server or a host does. */
function transact<T>(connection: Connection, task: () => T): T {
  connection.exec('BEGIN IMMEDIATE');
  try {
    const result = task();
    connection.exec('COMMIT');
    return result;
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

/** SQLite's primary result. */
const primary = ({ code }: SqliteError) => String(code).split('_').slice(0, 2).join('_');

const ofClient = (error: SqliteError) =>
  Object.assign(new Error(`${primary(error)}: ${error.message}`), {
    name: 'LibsqlError',
    code: primary(error),
    extendedCode: error.code,
  });

/** As D1 and Durable Objects write them: their errors have no member for the result. */
const ofWorkers = (prefix: string) => (error: SqliteError) => {
  const extended = error.code === primary(error) ? '' : ` (extended: ${error.code})`;
  return new Error(`${prefix}${error.message}: ${primary(error)}${extended}`);
};

/** Workers let nobody ask for it. */
function authorize(sql: string): void {
  if (!sql.includes('pragma_encoding')) return;
  throw Object.assign(new Error('not authorized'), { code: 'SQLITE_AUTH' });
}

const codeless = ({ message }: SqliteError) => new Error(message);
const ofTurso = ({ message }: SqliteError) => Object.assign(new Error(message), { code: 'GenericFailure' });
const ofSqlite3 = (error: SqliteError) =>
  Object.assign(new Error(`${primary(error)}: ${error.message}`), { code: primary(error) });

/** What the app does on a connection that is its own or the handle's. */
const ownSide = (connection: Connection) => ({
  run: async (sql: string) => connection.exec(sql),
  rows: async (sql: string) => query(connection, sql),
});

/** As each of them writes it. SQLite may, or may not, have rolled back the transaction whose COMMIT has met it. */
const diskError = () =>
  Object.assign(new Error('D1_ERROR: disk I/O error: SQLITE_IOERR'), { code: 'SQLITE_IOERR' });

/** What D1 gives each query in flight, once a batch of the app has violated a deferred foreign key. */
const resetError = ({ prefix = 'D1_ERROR: ' }: Network) =>
  new Error(`${prefix}Durable Object was reset: FOREIGN KEY constraint failed: SQLITE_CONSTRAINT`);

/** What a message meets on its way. */
async function travel<T>(network: Network, task: () => T): Promise<T> {
  const { next } = network;
  network.next = undefined;
  await turn();
  if (next === 'lost before it was sent') throw new TypeError('fetch failed');
  if (next === 'failed unsent') throw diskError();
  if (next === 'reset unsent') throw resetError(network);
  const result = task();
  await turn();
  if (next === 'lost after it was done') throw new TypeError('fetch failed');
  if (next === 'failed when done') throw diskError();
  if (next === 'reset when done') throw resetError(network);
  return result;
}

type Sent = readonly { readonly sql: string; readonly args: readonly unknown[] }[];

/** @param integer what the client makes of an integer, by its `intMode` */
const libsqlClient =
  (integer: (value: bigint) => unknown) =>
  (file: string, network: Network): OpenedHandle => {
    const connection = connect(file);
    connection.defaultSafeIntegers(true);
    const read = (row: Row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === 'bigint' ? integer(value) : value,
        ]),
      );
    let closed = false;
    const client = {
      get closed() {
        return closed;
      },
      async batch(statements: Sent, mode: string) {
        if (closed) throw Object.assign(new Error('The client is closed'), { code: 'CLIENT_CLOSED' });
        if (mode !== 'write') throw new Error('not atomic');
        const run = () =>
          statements.map(({ sql, args }) => ({ rows: query(connection, sql, args).map(read) }));
        return travel(network, () => as(ofClient, () => transact(connection, run)));
      },
      execute() {},
      executeMultiple() {},
      close() {
        closed = true;
      },
    };
    return { handle: client as never, ...ownSide(connection), close: () => client.close() };
  };

function d1(file: string, network: Network): OpenedHandle {
  const connection = connect(file);
  const prepare = (sql: string) => ({ bind: (...args: unknown[]) => ({ sql, args }), sql, args: [] });
  const run = (statements: Sent) =>
    statements.map(({ sql, args }) => {
      authorize(sql);
      return { results: query(connection, sql, args), success: true };
    });
  const binding = {
    prepare,
    batch: (statements: Sent) =>
      travel(network, () => as(ofWorkers('D1_ERROR: '), () => transact(connection, () => run(statements)))),
    exec() {},
    dump() {},
    withSession() {},
  };
  return { handle: binding as never, ...ownSide(connection), close() {} };
}

function durableObject(file: string): OpenedHandle {
  const connection = connect(file);
  const ofThis = ofWorkers('');
  const storage = {
    sql: {
      exec(sql: string, ...args: unknown[]) {
        const rows = as(ofThis, () => {
          authorize(sql);
          return query(connection, sql, args);
        });
        return { toArray: () => rows };
      },
    },
    transactionSync<T>(closure: () => T): T {
      // An error of the closure comes out as it is.
      let failure: { error: unknown } | undefined;
      const run = () => {
        try {
          return closure();
        } catch (error) {
          failure = { error };
          throw error;
        }
      };
      return as(
        (error) => (failure ? failure.error : ofThis(error)),
        () => transact(connection, run),
      );
    },
    async transaction() {},
  };
  return { handle: storage as never, ...ownSide(connection), close() {} };
}

function turso(file: string): OpenedHandle {
  const connection = connect(file);
  const exec = async (sql: string) => {
    await turn();
    return as(ofTurso, () => connection.exec(sql));
  };
  const prepare = (sql: string) => ({
    async all(...values: unknown[]) {
      await turn();
      return as(ofTurso, () => query(connection, sql, values));
    },
  });
  // Its transactions wait for each other.
  let last: Promise<unknown> = Promise.resolve();
  const database = {
    memory: false,
    prepare,
    exec,
    get open() {
      return connection.open;
    },
    get inTransaction() {
      return connection.open && connection.inTransaction;
    },
    transactionAsync(task: (transaction: unknown) => Promise<unknown>) {
      const begin = (how: string) => () => {
        const run = async () => {
          await exec(how);
          try {
            const result = await task({ prepare });
            await exec('COMMIT');
            return result;
          } catch (error) {
            await exec('ROLLBACK');
            throw error;
          }
        };
        const done = last.then(run);
        last = done.catch(() => {});
        return done;
      };
      return { immediate: begin('BEGIN IMMEDIATE'), deferred: begin('BEGIN DEFERRED') };
    },
    batch() {},
    close() {},
  };
  return { handle: database as never, ...ownSide(connection), close: () => void connection.close() };
}

function libsql(file: string): OpenedHandle {
  const database = connect(file);
  return { handle: database, ...ownSide(database), close: () => void database.close() };
}

/** As better-sqlite3, whose statements without rows have no `all`, and those with rows no `run`. */
function betterSqlite3(file: string): OpenedHandle {
  const database = connect(file);
  const refuse = () => {
    throw new TypeError('This statement does not return data. Use run() instead');
  };
  const handle = {
    exec: (sql: string) => database.exec(sql),
    prepare(sql: string) {
      const statement = database.prepare(sql);
      return statement.reader
        ? { all: (...values: unknown[]) => statement.all(...values), run: refuse }
        : { all: refuse, run: (...values: unknown[]) => statement.run(...values) };
    },
    get open() {
      return database.open;
    },
  };
  return { handle: handle as never, ...ownSide(database), close: () => void database.close() };
}

function libsqlPromise(file: string): OpenedHandle {
  const database = new AsyncDatabase(file, {});
  const run = (sql: string) => database.exec(sql);
  return {
    handle: database as never,
    run,
    rows: async (sql) => (await database.prepare(sql)).all() as Promise<Row[]>,
    close: () => database.close(),
  };
}

function sqlite3(file: string): OpenedHandle {
  const connection = connect(file);
  type Callback = (error: unknown, rows?: Row[]) => void;
  const call = (task: () => Row[] | undefined, callback: Callback) => {
    setImmediate(() => {
      let rows: Row[] | undefined;
      try {
        rows = as(ofSqlite3, task);
      } catch (error) {
        return callback(error);
      }
      callback(null, rows);
    });
  };
  let open = true;
  const database: object = {
    get open() {
      return open;
    },
    all: (sql: string, values: unknown[], callback: Callback) => {
      call(() => query(connection, sql, values), callback);
      return database;
    },
    exec(sql: string, callback: Callback) {
      call(() => void connection.exec(sql), callback);
      return database;
    },
    run() {},
    each() {},
    prepare() {},
    serialize() {},
    parallelize() {},
    close() {},
  };
  return {
    handle: database as never,
    ...ownSide(connection),
    close() {
      open = false;
      connection.close();
    },
  };
}

function expo(file: string): OpenedHandle {
  const own = connect(file);
  const database = {
    async withExclusiveTransactionAsync(task: (transaction: unknown) => Promise<void>) {
      // On a connection of its own.
      const connection = connect(file);
      const getAllAsync = async (sql: string, values: unknown[] = []) => {
        await turn();
        return as(codeless, () => query(connection, sql, values));
      };
      try {
        await getAllAsync('BEGIN');
        await task({ getAllAsync });
        await getAllAsync('COMMIT');
      } catch (error) {
        await getAllAsync('ROLLBACK').catch(() => {});
        throw error;
      } finally {
        connection.close();
      }
    },
    async getAllAsync() {},
    async execAsync() {},
  };
  return { handle: database as never, ...ownSide(own), close() {} };
}

function opSqlite(file: string): OpenedHandle {
  const connection = connect(file);
  const executeSync = (sql: string) => as(codeless, () => void connection.exec(sql));
  let last: Promise<unknown> = Promise.resolve();
  const database = {
    transaction(task: (transaction: unknown) => Promise<void>) {
      const run = async () => {
        await turn();
        let isFinalized = false;
        const commit = async () => {
          executeSync('COMMIT');
          isFinalized = true;
        };
        const rollback = () => {
          executeSync('ROLLBACK');
          isFinalized = true;
        };
        const execute = async (sql: string, values: unknown[]) => {
          await turn();
          return { rows: as(codeless, () => query(connection, sql, values)) };
        };
        try {
          executeSync('BEGIN TRANSACTION');
          await task({ execute, commit, rollback });
          // It waits for no COMMIT: an error of one is unhandled, and the transaction looks as if it was committed.
          if (!isFinalized) commit().catch(() => {});
        } catch (error) {
          if (!isFinalized) rollback();
          throw error;
        }
      };
      const done = last.then(run);
      last = done.catch(() => {});
      return done;
    },
    executeBatch() {},
    execute() {},
  };
  return { handle: database as never, ...ownSide(connection), close() {} };
}

/** Of `sqlite`, which wraps a connection of `sqlite3`. */
function sqlite(file: string): OpenedHandle {
  const { handle, ...rest } = sqlite3(file);
  const others = { all() {}, exec() {}, prepare() {}, run() {}, each() {} };
  return { handle: { getDatabaseInstance: () => handle, ...others } as never, ...rest };
}

const inProcess = { sharesConnection: true, hasResults: true, isFarAway: false, showsClosed: true };
const farAway = { sharesConnection: false, hasResults: true, isFarAway: true, showsClosed: false };
const ofClients = { ...farAway, showsClosed: true };

export const sqliteKinds = {
  libsql: { ...inProcess, open: libsql },
  'libsql/promise': { ...inProcess, showsClosed: false, open: libsqlPromise },
  '@libsql/client': { ...ofClients, open: libsqlClient(Number) },
  'a D1 binding': { ...farAway, open: d1 },
  'the storage of a Durable Object': {
    ...inProcess,
    sharesConnection: false,
    showsClosed: false,
    open: durableObject,
  },
  '@tursodatabase/database': { ...inProcess, hasResults: false, open: turso },
  sqlite3: { ...inProcess, open: sqlite3 },
  'expo-sqlite': { ...inProcess, sharesConnection: false, hasResults: false, showsClosed: false, open: expo },
  'op-sqlite': {
    ...inProcess,
    sharesConnection: false,
    hasResults: false,
    showsClosed: false,
    open: opSqlite,
  },
} satisfies Record<string, Kind> as Readonly<Record<string, Kind>>;

/** Handles that differ from one of these in a detail. */
export const sqliteVariants = {
  "@libsql/client of intMode 'bigint'": { ...ofClients, open: libsqlClient((value) => value) },
  "@libsql/client of intMode 'string'": { ...ofClients, open: libsqlClient(String) },
  sqlite: { ...inProcess, open: sqlite },
  'better-sqlite3': { ...inProcess, open: betterSqlite3 },
} satisfies Record<string, Kind> as Readonly<Record<string, Kind>>;
