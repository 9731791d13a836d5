import { ownWords } from '../../../src/for-storages.js';
import { noConnection, type Pool } from '../_shared/checkout.js';
import { closedConnection, OpenTransaction } from '../_shared/meaning.js';

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
  /** `I` if no transaction is open, `null` before the login. Absent before `pg` 8.21. */
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

let hasWarnedOfTransactions = false;

/**
 * Warns once of a pool whose clients do not show whether they come with an open transaction: as those of `pg.native` before `pg` 8.21.
 *
 * @param client one that has run a statement
 */
export function warnOfTransactions(pool: PostgresPool, client: PgClient): void {
  if (hasWarnedOfTransactions || !isPool(pool) || transactionStatusOf(client) !== undefined) return;
  hasWarnedOfTransactions = true;
  warn(
    'The clients of the pool that plant-store uses do not show whether they come with an open transaction, whose ROLLBACK would remove plants: use the JavaScript client of pg, or pg 8.21 or later.',
  );
}

const warn = (text: string) => globalThis.process?.emitWarning(text, { code: 'PLANT_STORE_POOL' });

let hasWarned = false;

/**
 * Warns once of a pool that never ends a login or a statement that hangs: during an outage each attempt would hold another
 * of its places, and leave another process of the server waiting for a lock. And of one that ends a statement only when its
 * creates have timed out: they are then unknown, where the server would have said that it stored nothing.
 *
 * @param statementTimeout as the server shows it, because a role may have it too
 * @param timeoutMs how long a create may take
 */
export function warnOfTimeouts(pool: PostgresPool, statementTimeout: unknown, timeoutMs: number): void {
  if (hasWarned || !isPool(pool) || !pool.options) return;
  const missing = pool.options.connectionTimeoutMillis ? [] : ['connectionTimeoutMillis'];
  if (statementTimeout === '0') missing.push('statement_timeout');
  const isTooLong = millisecondsOf(statementTimeout) >= timeoutMs;
  hasWarned = missing.length > 0 || isTooLong;
  if (!hasWarned) return;
  const text =
    missing.length > 0
      ? `Give the pg Pool of plant-store a ${missing.join(' and a ')}: otherwise, calls that hang fill the pool and the server.`
      : `Set the statement_timeout of plant-store's pg Pool, which is ${statementTimeout}, below the storage's timeoutMs of ${timeoutMs} ms: otherwise it is unknown what a slow statement has stored.`;
  warn(text);
}

/** The units in which PostgreSQL shows a time, in milliseconds. */
const units: { readonly [unit: string]: number } = { ms: 1, s: 1e3, min: 6e4, h: 36e5, d: 864e5 };

/** A time as PostgreSQL shows it, `10s` or `500ms`; NaN for any other text. */
function millisecondsOf(setting: unknown): number {
  const [, count, unit = ''] = /^(\d+)([a-z]+)$/.exec(String(setting)) ?? [];
  return Number(count) * (units[unit] ?? Number.NaN);
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
    if (!isDiscardable) throw ownWords(new Error(new OpenTransaction().message));
    await client.query('ROLLBACK');
    throw new OpenTransaction();
  });
}

/** Runs what commits, and listens to what the server says besides. */
export async function hearing<T>(client: PgClient, commit: () => Promise<T>): Promise<T> {
  const heard: Message[] = [];
  const hear = (message: Message) => heard.push(message);
  client.on?.('notice', hear);
  try {
    const result = await commit();
    if (heard.some(isUnreplicated)) throw ownWords(new Error(unreplicated));
    return result;
  } finally {
    client.off?.('notice', hear);
  }
}

/**
 * If the wait for a standby is cut short, PostgreSQL still commits and only warns. Saying `created` could lose the
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
function transactionStatusOf(client: PgClient): string | null | undefined {
  return client.getTransactionStatus
    ? client.getTransactionStatus()
    : lastStatus.get(Object(client.connection));
}

/** Whether a transaction is open. Exact after a statement, and unless one was begun and not awaited, before it. */
export function isInTransaction(client: PgClient): boolean {
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
