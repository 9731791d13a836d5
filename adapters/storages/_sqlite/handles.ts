import { isPromise, WrongResult } from '../_shared/wrong-handle.js';
import { resultOfWorkers } from './errors.js';
import {
  batching,
  onConnection,
  type Query,
  type SqliteClient,
  transacting,
  type Work,
} from './transactions.js';

/** What has `batch` with a transaction: a client of `@libsql/client` or of `@tursodatabase/serverless`, and its layer for libSQL. */
export interface LibsqlClient {
  batch(statements: { sql: string; args: string[] }[], mode: 'write'): Promise<{ rows: unknown[] }[]>;
  close(): unknown;
}

/** A binding of Cloudflare D1, or a session of one. */
export interface D1Binding {
  prepare(sql: string): { bind(...values: string[]): Any };
  batch(statements: Any[]): Promise<{ results: unknown[] }[]>;
}

/** The `ctx.storage` of a Durable Object that keeps its data in SQLite. */
export interface DurableObjectSqlite {
  readonly sql: { exec(sql: string, ...values: string[]): { toArray(): unknown[] } };
  transactionSync<T>(closure: () => T): T;
}

/** A connection of `@tursodatabase/database`. */
export interface TursoDatabase {
  transactionAsync(task: (transaction: AsyncStatements) => Promise<void>): {
    immediate(): Promise<void>;
    deferred(): Promise<void>;
  };
  readonly memory: boolean;
}

interface AsyncStatements {
  prepare(sql: string): Any;
}

/** A connection of `libsql/promise`, or of a `@tursodatabase/database` without `transactionAsync`. */
export interface AsyncSqliteDatabase extends AsyncStatements {
  exec(sql: string): Promise<unknown>;
}

/** A connection of `sqlite3`. */
export interface Sqlite3Database {
  all(sql: string, values: string[], callback: (error: Error | null, rows: Any[]) => void): unknown;
  exec(sql: string, callback: (error: Error | null) => void): unknown;
  parallelize: Any;
}

/** A connection of `sqlite`. */
export interface SqliteOfSqlite3 {
  getDatabaseInstance(): Sqlite3Database;
}

/** A database of `expo-sqlite`. */
export interface ExpoDatabase {
  withExclusiveTransactionAsync(task: (transaction: ExpoStatements) => Promise<void>): Promise<void>;
}

interface ExpoStatements {
  getAllAsync(sql: string, values: string[]): Promise<unknown[]>;
}

/** A database of `@op-engineering/op-sqlite`. */
export interface OpSqliteDatabase {
  transaction(task: (transaction: OpStatements) => Promise<void>): Promise<void>;
  executeBatch: Any;
}

interface OpStatements {
  execute(sql: string, values: string[]): Promise<{ rows: unknown[] }>;
  commit(): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: each library has types of its own for these
type Any = any;

/** The part that this storage uses of a handle on a SQLite that answers later. */
export type AsyncSqlite =
  | LibsqlClient
  | D1Binding
  | DurableObjectSqlite
  | TursoDatabase
  | AsyncSqliteDatabase
  | Sqlite3Database
  | SqliteOfSqlite3
  | ExpoDatabase
  | OpSqliteDatabase;

/** One kind of handle. */
interface Kind {
  /** The methods and members by which it is known. */
  readonly has: readonly string[];
  open(handle: Any): SqliteClient;
}

const kind = <Handle>(
  has: readonly (keyof Handle & string)[],
  open: (handle: Handle) => SqliteClient,
): Kind => ({
  has,
  open,
});

/** All that differs between the handles: how each runs a transaction. A handle is of the first kind whose members it has. */
const kinds: readonly Kind[] = [
  kind<DurableObjectSqlite>(['transactionSync', 'sql'], (storage) =>
    transacting(
      storage,
      async (work) => {
        // Nothing is awaited: so nothing else of the object runs within it.
        storage.transactionSync(() => work.runNow((sql, args) => storage.sql.exec(sql, ...args).toArray()));
      },
      resultOfWorkers,
    ),
  ),
  kind<ExpoDatabase>(['withExclusiveTransactionAsync'], (database) =>
    transacting(database, (work) =>
      database.withExclusiveTransactionAsync((transaction) =>
        locked(work, (sql, args) => transaction.getAllAsync(sql, args)),
      ),
    ),
  ),
  kind<OpSqliteDatabase>(['executeBatch', 'transaction'], (database) =>
    transacting(database, (work) =>
      database.transaction(async (transaction) => {
        await locked(work, async (sql, args) => (await transaction.execute(sql, args)).rows);
        // The library itself does not wait for its COMMIT, and so calls one that has failed done.
        await transaction.commit();
      }),
    ),
  ),
  // A database in this process has `memory`. One that is far away gets all in one message, by `batch`.
  kind<TursoDatabase>(['transactionAsync', 'memory'], (database) =>
    transacting(database, (work) =>
      database
        .transactionAsync((transaction) => work.run(preparedOn(transaction)))
        [work.begin === 'BEGIN' ? 'deferred' : 'immediate'](),
    ),
  ),
  kind<LibsqlClient>(['batch', 'close'], (client) =>
    batching(client, async (statements) => {
      const sent = statements.map(({ sql, args }) => ({ sql, args: [...args] }));
      return (await client.batch(sent, 'write')).map(({ rows }) => rows);
    }),
  ),
  kind<D1Binding>(['batch', 'prepare'], (binding) =>
    batching(
      binding,
      async (statements) => {
        const sent = statements.map(({ sql, args }) => binding.prepare(sql).bind(...args));
        return (await binding.batch(sent)).map(({ results }) => results);
      },
      resultOfWorkers,
    ),
  ),
  // Both of these have `prepare`, too.
  kind<SqliteOfSqlite3>(['getDatabaseInstance'], (database) => clientOf(database.getDatabaseInstance())!),
  kind<Sqlite3Database>(['all', 'exec', 'parallelize'], (database) => {
    const call = <T>(send: (callback: (error: unknown, result?: Any) => void) => unknown) =>
      new Promise<T>((resolve, reject) => {
        send((error, result) => (error ? reject(error) : resolve(result)));
      });
    return onConnection(
      database,
      (sql) => call((callback) => database.exec(sql, callback)),
      (sql, args) => call<unknown[]>((callback) => database.all(sql, args, callback)),
    );
  }),
  kind<AsyncSqliteDatabase>(['prepare', 'exec'], (database) =>
    onConnection(
      database,
      async (sql) => {
        const executing = database.exec(sql);
        if (isPromise(executing)) return executing;
        // A driver that blocks has begun a transaction.
        Object(database).exec('ROLLBACK');
        throw new WrongResult('exec', 'a promise', executing);
      },
      preparedOn(database),
    ),
  ),
];

/**
 * Does work in a transaction that a library has begun without a lock. Its errors have no result, so that a lock would look like a fault
 * of the first INSERT: one that is met by BEGIN is none of the work.
 */
async function locked(work: Work, query: Query): Promise<void> {
  await query('ROLLBACK', []);
  await query(work.begin, []);
  await work.run(query);
}

/** Queries by statements that are prepared on a connection or in a transaction, at once or later. */
const preparedOn = (connection: AsyncStatements) => async (sql: string, args: string[]) =>
  (await connection.prepare(sql)).all(...args);

/** Returns the client of a handle; `undefined` if it is of no kind. */
export function clientOf(handle: unknown): SqliteClient | undefined {
  const members = Object(handle) as Record<string, unknown>;
  return kinds.find(({ has }) => has.every((name) => name in members))?.open(members);
}
