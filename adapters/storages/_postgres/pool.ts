import { OpenTransaction, type Pool } from '../_shared/server-table.js';

/** The part of a `pg` Pool or Client, of PGlite, or of a custom object that this storage uses. */
export interface PostgresPool {
  // biome-ignore lint/suspicious/noExplicitAny: drivers disagree on what a value and a row may be
  query(text: string, values?: any[]): Promise<{ rows: any[]; rowCount?: number | null }>;
}

/** The part of a `pg` Pool that this storage uses. */
export interface PgPool {
  readonly totalCount: number;
  connect(callback: (error: unknown, client: PgClient) => void): void;
  readonly options?: { readonly connectionTimeoutMillis?: number | undefined };
}

interface Emitter {
  on?(event: string, listener: (message: Message) => void): unknown;
  off?(event: string, listener: (message: Message) => void): unknown;
}

export interface PgClient extends PostgresPool, Emitter {
  /** `I` if no transaction is open. Absent in versions of `pg` from before 2025. */
  getTransactionStatus?(): string | null;
  /**
   * Not documented. Without it, `readyForQuery` of those older versions could not tell that the app has left a transaction
   * open, and nothing would tell a client, which takes a statement with a name, from a custom object, which does not.
   */
  readonly connection?: Emitter & { readonly parsedStatements?: object };
  /** PGlite's. */
  isInTransaction?(): boolean;
  release?(isDiscarded: boolean): void;
}

interface Message {
  readonly message?: string | undefined;
  readonly routine?: string | undefined;
  readonly status?: string | undefined;
}

export function isPool(pool: PostgresPool): pool is PostgresPool & PgPool {
  // Read, not looked for by `in`: a Proxy that opens the pool on first use has no such members of its own.
  const { totalCount, connect } = pool as Partial<PgPool>;
  return totalCount !== undefined && typeof connect === 'function';
}

/** Checks clients out of a `pg` Pool, to hear their notices. */
export function poolOf(pool: PostgresPool): Pool<PgClient> {
  // Only what was checked out is released.
  if (!isPool(pool)) return { connect: async () => pool, release() {} };
  return {
    connect: () =>
      new Promise((resolve, reject) => {
        pool.connect((error, client) => {
          // Listen at once: the server may close the connection right away, and an unheard `error` event ends the process.
          client?.on?.('error', ignore);
          if (error) reject(error);
          else resolve(client);
        });
      }),
    release(client, isReusable) {
      client.off?.('error', ignore);
      client.release?.(!isReusable);
    },
  };
}

let hasWarned = false;

/**
 * Warns once of a pool that never ends a login or a statement that hangs: during an outage each attempt would hold another
 * of its places, and leave another process of the server waiting for a lock.
 *
 * @param statementTimeout as the server shows it, because a role may have it too
 */
export function warnOfTimeouts(pool: PostgresPool, statementTimeout: unknown): void {
  if (hasWarned || !isPool(pool) || !pool.options) return;
  const missing = pool.options.connectionTimeoutMillis ? [] : ['connectionTimeoutMillis'];
  if (statementTimeout === '0') missing.push('statement_timeout');
  hasWarned = missing.length > 0;
  const text = `Give the pg Pool of plant-store a ${missing.join(' and a ')}: otherwise, calls that hang fill the pool and the server.`;
  if (hasWarned) globalThis.process?.emitWarning(text, { code: 'PLANT_STORE_POOL' });
}

/**
 * Runs an INSERT, and listens to what the server says besides.
 *
 * @param isOwn whether the connection may be discarded
 * @throws {OpenTransaction} if the connection came with one
 */
export async function withNotices<T>(client: PgClient, isOwn: boolean, insert: () => Promise<T>): Promise<T> {
  if (isInTransaction(client)) throw new OpenTransaction();
  const heard: Message[] = [];
  const hear = (message: Message) => heard.push(message);
  client.on?.('notice', hear);
  const older = client.getTransactionStatus ? undefined : client.connection;
  older?.on?.('readyForQuery', hear);
  let result: T;
  try {
    result = await insert();
  } finally {
    client.off?.('notice', hear);
    older?.off?.('readyForQuery', hear);
  }
  if (isInTransaction(client) || heard.some(({ status }) => status === 'T')) {
    // Nobody but the app may end the transaction of a connection that the app gave: there the outcome is unknown.
    if (!isOwn) throw new Error(new OpenTransaction().message);
    await client.query('ROLLBACK');
    throw new OpenTransaction();
  }
  const unreplicated = heard.find(isUnreplicated);
  if (unreplicated) throw new Error(`not replicated: ${unreplicated.message}`);
  return result;
}

/**
 * If the wait for a standby is cut short, PostgreSQL still commits and only warns. Saying `created` could lose the
 * plant at the next failover.
 */
function isUnreplicated({ message, routine }: Message): boolean {
  return routine === 'SyncRepWaitForLSN' || message?.includes('synchronous replication') === true;
}

/** Whether a transaction is open. Exact after a statement, and unless one was begun and not awaited, before it. */
function isInTransaction(client: PgClient): boolean {
  const status = client.getTransactionStatus?.();
  return status === 'T' || status === 'E' || client.isInTransaction?.() === true;
}

function ignore() {}
