import { isPromise } from '../_shared/wrong-handle.js';
import type { SqliteClient } from './client.js';
import { resultOfWorkers } from './codes.js';
import { SqliteConnection } from './connection.js';
import type {
  Any,
  D1Binding,
  DurableObjectSqlite,
  ExpoDatabase,
  LibsqlClient,
  OpSqliteDatabase,
  Sqlite3Database,
  SqliteDatabase,
  SqliteOfSqlite3,
  SqliteStatements,
  TursoDatabase,
} from './libraries.js';
import { batching } from './message.js';
import { blocking, onConnection, type Query, transacting, type Work } from './transactions.js';

/** One kind of handle. */
interface HandleKind {
  /** The members by which it is known. */
  readonly has: readonly string[];
  /** Returns its client, or in words what else it lacks. */
  open(handle: Any): SqliteClient | string;
}

const kind = <Handle>(
  has: readonly (keyof Handle & string)[],
  open: (handle: Handle) => SqliteClient | string,
): HandleKind => ({ has, open });

/** All that differs between the handles: how each runs a transaction. A handle is of the first kind whose members it has. */
const kinds: readonly HandleKind[] = [
  kind<DurableObjectSqlite>(['transactionSync', 'sql'], openDurableObject),
  kind<ExpoDatabase>(['withExclusiveTransactionAsync'], (database) =>
    transacting(database, (work) =>
      database.withExclusiveTransactionAsync((transaction) =>
        locked(work, ({ sql, args }) => transaction.getAllAsync(sql, [...args])),
      ),
    ),
  ),
  kind<OpSqliteDatabase>(['executeBatch', 'transaction'], (database) =>
    transacting(database, (work) =>
      database.transaction(async (transaction) => {
        await locked(work, async ({ sql, args }) => (await transaction.execute(sql, [...args])).rows);
        // The library itself does not wait for its COMMIT, and so calls one that has failed done.
        await transaction.commit();
      }),
    ),
  ),
  // A database in this process has `memory`. One that is far away gets all in one message, by `batch`.
  kind<TursoDatabase>(['transactionAsync', 'memory'], (database) =>
    transacting(
      database,
      (work) =>
        database
          .transactionAsync((transaction) => work.run(preparedOn(transaction)))
          [work.reads ? 'deferred' : 'immediate'](),
      { isInTransaction: () => isInTransaction(database) },
    ),
  ),
  kind<LibsqlClient>(['batch', 'close'], (client) =>
    batching(
      client,
      async (statements) => {
        const sent = statements.map(({ sql, args }) => ({ sql, args: [...args] }));
        // On a file, a statement of a batch that meets the lock of another process stays in progress until it is collected, and keeps
        // out this process and all others (tursodatabase/libsql-client-ts#352). One of executeMultiple does not.
        if (client.protocol === 'file') await client.executeMultiple?.('BEGIN IMMEDIATE; ROLLBACK');
        return (await client.batch(sent, 'write')).map(({ rows }) => rows);
      },
      { opensFile: client.protocol === 'file' },
    ),
  ),
  kind<D1Binding>(['batch', 'prepare'], (binding) =>
    batching(
      binding,
      async (statements) => {
        const sent = statements.map(({ sql, args }) => binding.prepare(sql).bind(...args));
        return (await binding.batch(sent)).map(({ results }) => results);
      },
      // Once a batch of the app resets it, D1 gives each query in flight the error of that batch, also one that it has stored.
      { results: resultOfWorkers('D1_ERROR'), sharesErrors: true },
    ),
  ),
  // Both of these have `prepare`, too.
  kind<SqliteOfSqlite3>(['getDatabaseInstance'], (database) => clientOf(database.getDatabaseInstance())),
  kind<Sqlite3Database>(['all', 'exec', 'parallelize'], (database) => {
    const call = <T>(send: (callback: (error: unknown, result?: Any) => void) => unknown) =>
      new Promise<T>((resolve, reject) => {
        send((error, result) => (error ? reject(error) : resolve(result)));
      });
    return onConnection(
      database,
      (sql) => call((callback) => database.exec(sql, callback)),
      ({ sql, args }) => call<unknown[]>((callback) => database.all(sql, [...args], callback)),
    );
  }),
  kind<SqliteDatabase>(['prepare', 'exec'], openDatabase),
];

function openDurableObject(storage: DurableObjectSqlite): SqliteClient | string {
  try {
    // It has the same members in a class without SQLite.
    storage.sql.exec('SELECT 1');
  } catch {
    return 'SQLite: list its class in new_sqlite_classes';
  }
  const transact = async (work: Work) => {
    // Nothing is awaited: so nothing else of the object runs within it.
    storage.transactionSync(() => work.runNow(({ sql, args }) => storage.sql.exec(sql, ...args).toArray()));
  };
  return transacting(storage, transact, { results: resultOfWorkers('') });
}

/** Asks a database that has statements whether it blocks, by a SELECT without effect: its members do not tell. */
function openDatabase(database: SqliteDatabase): SqliteClient | string {
  const answer = answerOf(database);
  if (Array.isArray(answer)) {
    const connection = new SqliteConnection(database);
    return blocking(
      database,
      (sql) => database.exec(sql),
      (statement) => connection.query(statement),
    );
  }
  if (!isPromise(answer)) return 'statements whose all() returns rows';
  Promise.resolve(answer).catch(() => {});
  // Those that are known have it, and other wrappers of sqlite3 have not: they would leave statements open.
  if (!('transaction' in database)) return 'transaction';
  return onConnection(
    database,
    async (sql) => database.exec(sql),
    preparedOn(database),
    // Of libsql, which has `sync`, an error says so, and this getter ends the process once it is closed.
    () => !('sync' in database) && isInTransaction(database),
  );
}

/** Returns what a database returns for a SELECT: rows, or a promise. One that is closed throws at once: so it blocks. */
function answerOf(database: SqliteDatabase): unknown {
  try {
    const statement = database.prepare('SELECT 1');
    return isPromise(statement) ? statement : statement?.all?.();
  } catch {
    return [];
  }
}

const isInTransaction = (database: object) =>
  (database as { readonly inTransaction?: unknown }).inTransaction === true;

/**
 * Does work in a transaction that a library has begun without a lock. Its errors have no result, so that a lock would look like a fault
 * of the first INSERT: one that is met by BEGIN is none of the work.
 */
async function locked(work: Work, query: Query): Promise<void> {
  await query({ sql: 'ROLLBACK', args: [] });
  await query({ sql: work.begin, args: [] });
  await work.run(query);
}

/** Queries by statements that are prepared on a connection or in a transaction, at once or later. */
const preparedOn =
  (connection: SqliteStatements): Query =>
  async ({ sql, args }) =>
    (await connection.prepare(sql)).all(...args);

/** Returns the client of a handle; or in words what it lacks, empty if it looks like none. */
export function clientOf(handle: unknown): SqliteClient | string {
  const members = Object(handle) as Record<string, unknown>;
  const lackedBy = ({ has }: HandleKind) => has.filter((name) => !(name in members));
  const found = kinds.find((kind) => lackedBy(kind).length === 0);
  if (found) return found.open(members);
  const similar = kinds.find((kind) => lackedBy(kind).length < kind.has.length);
  return similar ? lackedBy(similar).join(', ') : '';
}
