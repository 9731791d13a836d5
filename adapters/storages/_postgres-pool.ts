import { inFailedTransaction, meaningOf } from './_postgres-errors.js';
import { OpenTransaction, type Pool, Unanswered } from './_server.js';

/** The part of a `pg` Pool or Client, of PGlite, or of a custom object that this storage uses. */
export interface PostgresPool {
  // biome-ignore lint/suspicious/noExplicitAny: drivers disagree on what a value and a row may be
  query(text: string, values?: any[]): Promise<{ rows: any[]; rowCount?: number | null }>;
}

/** The part of a `pg` Pool that this storage uses. */
export interface PgPool {
  readonly totalCount: number;
  connect(callback: (error: unknown, client: PgClient) => void): void;
  readonly options?: object;
  /** No documented members: the class of its clients, and the clients, also while they connect. */
  readonly Client?: { new (options?: object): PgClient };
  readonly _clients?: readonly PgClient[];
}

interface Emitter {
  on?(event: string, listener: (message: Message) => void): unknown;
  off?(event: string, listener: (message: Message) => void): unknown;
}

export interface PgClient extends PostgresPool, Emitter {
  /** `I` if no transaction is open. Absent in versions of `pg` from before 2025. */
  getTransactionStatus?(): string | null;
  /** No documented members. */
  readonly connection?: Emitter & {
    readonly parsedStatements?: Record<string, string>;
    readonly stream?: { destroy(): unknown };
  };
  readonly processID?: number | null;
  readonly secretKey?: unknown;
  cancel?(client: object): void;
  /** PGlite's. */
  isInTransaction?(): boolean;
  release?(error?: unknown): void;
}

interface Message {
  readonly message?: string | undefined;
  readonly routine?: string | undefined;
  readonly status?: string | undefined;
}

/** A login or a request to cancel that has not ended after this many milliseconds is hung. */
const hungMs = 5_000;

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
    connect: () => connect(pool),
    /** With an error the pool discards the connection; for a rejected plant the connection is kept. */
    release(client, error) {
      client.off?.('error', ignore);
      const isKept = !error || ['rejected', 'locked', 'expired'].includes(meaningOf(error, true));
      client.release?.(isKept ? undefined : error);
      if (error instanceof Unanswered) cancel(pool, client);
    },
  };
}

function connect(pool: PgPool): Promise<PgClient> {
  const { length = 0 } = pool._clients ?? [];
  return new Promise((resolve, reject) => {
    let isConnecting = true;
    pool.connect((error, client) => {
      isConnecting = false;
      // Listen at once: the server may close the connection right away, and an unheard `error` event ends the process.
      client?.on?.('error', ignore);
      if (error) reject(error);
      else resolve(client);
    });
    // A login that the network swallowed never ends by itself, and holds a place of the pool.
    const login = pool._clients?.[length];
    if (login) destroyLater(login, () => isConnecting);
  });
}

/**
 * Ends the statement of a client that is about to be discarded: while it waits for a lock, the server does not notice that
 * its client has gone, so that each attempt would leave another process behind.
 */
function cancel({ Client, options }: PgPool, { processID, secretKey }: PgClient): void {
  const canceller = processID && Client ? new Client(options) : undefined;
  if (!canceller?.connection?.on) return;
  canceller.connection.on('error', ignore);
  // Its own `cancel` compares the query to cancel with the client's: here both are undefined.
  canceller.cancel?.({ processID, secretKey });
  destroyLater(canceller, () => true);
}

function destroyLater({ connection }: PgClient, isHung: () => boolean): void {
  const end = () => isHung() && connection?.stream?.destroy();
  AbortSignal.timeout(hungMs).addEventListener('abort', end);
}

/**
 * Runs an INSERT, and listens to what the server says besides.
 *
 * @param isOwn whether the connection may be discarded
 * @throws {OpenTransaction} if the connection came with one
 */
export async function hearing<T>(client: PgClient, isOwn: boolean, insert: () => Promise<T>): Promise<T> {
  if (isInTransaction(client)) throw new OpenTransaction();
  const heard: Message[] = [];
  const hear = (message: Message) => heard.push(message);
  client.on?.('notice', hear);
  if (!client.getTransactionStatus) client.connection?.on?.('readyForQuery', hear);
  let result: T;
  try {
    result = await insert();
  } catch (error) {
    const { code } = Object(error);
    throw code === inFailedTransaction ? new OpenTransaction({ cause: error }) : error;
  } finally {
    client.off?.('notice', hear);
    client.connection?.off?.('readyForQuery', hear);
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
  return /^[TE]$/.test(client.getTransactionStatus?.() ?? '') || client.isInTransaction?.() === true;
}

function ignore() {}
