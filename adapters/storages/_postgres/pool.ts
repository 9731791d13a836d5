import { OwnError } from '../../../src/for-storages.js';
import { noConnection, type Pool } from '../_shared/checkout.js';
import { closedConnection, OpenTransaction } from '../_shared/meaning.js';
import type { Transaction } from '../_shared/transaction.js';

/** The part of a `pg` Pool or Client, of PGlite, or of a custom object that this storage uses. */
export interface PostgresPool {
  // biome-ignore lint/suspicious/noExplicitAny: drivers disagree on what a value and a row may be
  query(text: string, values?: any[]): Promise<{ rows: any[]; rowCount?: number | null }>;
}

/** The part of a `pg` Pool that this storage uses. */
export interface PgPool {
  readonly totalCount: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  connect(callback: (error: unknown, client: PgClient) => void): void;
  readonly options?: { readonly connectionTimeoutMillis?: number | undefined };
  /** Whether the app has ended it. */
  readonly ending?: boolean;
}

/** The part of PGlite that this storage uses besides. */
interface Pglite {
  readonly ready: boolean;
  readonly closed: boolean;
}

/** A statement as `pg` takes it. */
export interface PgQuery {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

/** The part of a client of `pg` that this storage uses. That of another driver has `query` alone. */
export interface PgClient extends PostgresPool {
  query(text: string, values?: unknown[]): ReturnType<PostgresPool['query']>;
  query(query: PgQuery): ReturnType<PostgresPool['query']>;
  on?(event: string, listener: (message: Message) => void): unknown;
  off?(event: string, listener: (message: Message) => void): unknown;
  /** `I` if no transaction is open, `null` before the login. Absent before `pg` 8.21 (brianc/node-postgres#3645). */
  getTransactionStatus?(): string | null;
  /** What reads the protocol. Absent from `pg.native`. */
  readonly connection?: { on?(event: 'readyForQuery', listener: (message: Ready) => void): unknown };
  release?(isDiscarded: boolean): void;
}

/** The protocol's message ReadyForQuery, which ends each statement. */
interface Ready {
  readonly status?: string;
}

interface Message {
  readonly routine?: string | undefined;
}

export function isPool(pool: PostgresPool): pool is PostgresPool & PgPool {
  // Read, not looked for by `in`: a Proxy that opens the pool on first use has no such members of its own.
  const { totalCount, connect } = pool as Partial<PgPool>;
  return totalCount !== undefined && typeof connect === 'function';
}

/** Whether this is a Pool or a Client of `pg`, whose clients take a statement with a name and count its rows. */
export function isPg(pool: PostgresPool): boolean {
  return isPool(pool) || typeof (pool as PgClient).getTransactionStatus === 'function';
}

/** Whether this is a Client of `pg` that nobody has connected. A `native` one shows no status. */
export function isUnconnected(pool: PostgresPool): boolean {
  const { native, getTransactionStatus } = pool as PgClient & { readonly native?: unknown };
  if (native || typeof getTransactionStatus !== 'function') return false;
  return (pool as PgClient).getTransactionStatus!() === null;
}

function isPglite(client: object): client is Pglite {
  const { ready, closed } = client as Partial<Pglite>;
  return typeof ready === 'boolean' && typeof closed === 'boolean';
}

/** The Clients of the app that have emitted `end`, and those that are listened to: each once, for all of its storages. */
const ended = new WeakSet<PgClient>();
const heardOf = new WeakSet<PgClient>();

/** Uses the one connection that the app has given, and never releases it. */
function onlyConnection(client: PgClient): Pool<PgClient> {
  if (isPg(client) && !heardOf.has(client)) {
    heardOf.add(client);
    client.on?.('end', () => ended.add(client));
  }
  return {
    async connect() {
      if (ended.has(client) || (isPglite(client) && client.closed)) throw closedConnection();
      watchTransactions(client);
      return client;
    },
    release() {},
  };
}

/** Checks clients out of a `pg` Pool, to hear their notices. */
export function poolOf(pool: PostgresPool): Pool<PgClient> {
  if (!isPool(pool)) return onlyConnection(pool as PgClient);
  return {
    connect: () =>
      new Promise((resolve, reject) => {
        if (pool.ending) throw closedConnection();
        pool.connect((error, client) => {
          // Listen at once: the server may close the connection right away, and an unheard `error` event ends the process.
          client?.on?.('error', ignore);
          if (error) return reject(shortage ? noConnection(shortage, error) : error);
          watchTransactions(client);
          resolve(client);
        });
        const shortage = shortageOf(pool);
      }),
    release(client, isReusable) {
      client.off?.('error', ignore);
      client.release?.(!isReusable);
    },
    shortage: () => shortageOf(pool),
  };
}

/** What a pool tells of its connections while somebody waits for one. */
function shortageOf({ totalCount, idleCount, waitingCount = 0 }: PgPool): string | undefined {
  if (waitingCount === 0 || idleCount !== 0) return undefined;
  return `0 of ${totalCount} idle, ${waitingCount} waiting`;
}

/**
 * Runs an INSERT that commits by itself.
 *
 * @param isDiscardable whether the connection may be discarded
 * @throws {OpenTransaction} if the connection came with one
 */
export async function withNotices<T>(
  client: PgClient,
  isDiscardable: boolean,
  insert: () => Promise<T>,
): Promise<T> {
  if (isInTransaction(client)) throw new OpenTransaction();
  return hearing(client, async () => {
    const result = await insert();
    if (!isInTransaction(client) && !(isPglite(client) && (await hasWritten(client)))) return result;
    // Nobody but the app may end the transaction of a connection that the app gave: there the outcome is unknown.
    if (!isDiscardable) throw new OwnError(new OpenTransaction().message);
    await client.query('ROLLBACK');
    throw new OpenTransaction();
  });
}

/** A transaction on a client that the app does not use at the same time. */
export function transactionOn(client: PgClient): Transaction {
  return {
    async begin() {
      if (isInTransaction(client)) throw new OpenTransaction();
      await client.query('BEGIN');
    },
    commit: () => hearing(client, () => client.query('COMMIT')),
    rollBack: () => client.query('ROLLBACK'),
  };
}

/** Runs what commits, and listens to what the server says besides. */
async function hearing<T>(client: PgClient, commit: () => Promise<T>): Promise<T> {
  const heard: Message[] = [];
  const hear = (message: Message) => heard.push(message);
  client.on?.('notice', hear);
  try {
    const result = await commit();
    if (heard.some(isUnreplicated)) throw new OwnError(unreplicated);
    return result;
  } finally {
    client.off?.('notice', hear);
  }
}

/**
 * If the wait for a standby is cut short, PostgreSQL still commits and only warns
 * (https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION). Saying `created` could lose the
 * plant at the next failover. By the routine that warns, because a trigger may warn in any words.
 */
function isUnreplicated({ routine }: Message): boolean {
  return routine === 'SyncRepWaitForLSN';
}

const unreplicated = 'not replicated: the wait for a synchronous standby was cancelled after the commit';

/** How the last statement left the transaction, by the `connection` of a client. */
const lastStatus = new WeakMap<object, string | undefined>();

/**
 * Listens to what a client of `pg` before 8.21 reads of its transaction, and does not show. Assumed of those versions, which cannot
 * change any more.
 */
function watchTransactions({ getTransactionStatus, connection }: PgClient): void {
  if (getTransactionStatus || typeof connection?.on !== 'function' || lastStatus.has(connection)) return;
  lastStatus.set(connection, undefined);
  connection.on('readyForQuery', ({ status }) => lastStatus.set(connection, status));
}

/** `undefined` of a client that shows nothing. */
export function transactionStatusOf(client: PgClient): string | null | undefined {
  return client.getTransactionStatus
    ? client.getTransactionStatus()
    : lastStatus.get(Object(client.connection));
}

/** Whether a transaction is open. Exact after a statement, and unless one was begun and not awaited, before it. */
function isInTransaction(client: PgClient): boolean {
  const status = transactionStatusOf(client);
  return status === 'T' || status === 'E';
}

/**
 * Whether the connection is in a transaction that has written something. PGlite itself waits for a transaction of the app that was
 * begun by its `transaction`, and this sees one that was begun by a statement.
 */
async function hasWritten(client: PgClient): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS "isOpen"');
  return rows[0]?.isOpen === true;
}

function ignore() {}
