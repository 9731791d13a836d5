import type { Pool } from './_connector.js';
import { meaningOf } from './_postgres-errors.js';
import { Unanswered } from './_server.js';

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
  readonly Client?: new (
    options?: object,
  ) => PgClient;
  readonly _clients?: readonly PgClient[];
}

export interface PgClient extends PostgresPool {
  /** `I` if no transaction is open. Absent in versions of `pg` from before 2025. */
  getTransactionStatus?(): string | null;
  /** No documented members. */
  readonly connection?: {
    readonly parsedStatements?: Record<string, string>;
    readonly stream?: { destroy(): unknown };
    connect?(...address: unknown[]): void;
    cancel?(processID: number, secretKey: unknown): void;
    on?(event: 'readyForQuery' | 'error' | 'connect', listener: (message: Message) => void): unknown;
    off?(event: 'readyForQuery', listener: (message: Message) => void): unknown;
  };
  readonly host?: string;
  readonly port?: number;
  readonly processID?: number | null;
  readonly secretKey?: unknown;
  /** PGlite's. */
  isInTransaction?(): boolean;
  on?(event: 'notice' | 'error', listener: (message: Message) => void): unknown;
  off?(event: 'notice' | 'error', listener: (message: Message) => void): unknown;
  release?(error?: unknown): void;
}

export interface Message {
  readonly message?: string | undefined;
  readonly routine?: string | undefined;
  readonly status?: string | undefined;
}

/** A login or a request to cancel that has not ended after this many milliseconds is hung. */
const hungMs = 5_000;

export function isPool(pool: PostgresPool): pool is PostgresPool & PgPool {
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
      if (error instanceof Unanswered) cancel(pool, client);
      client.off?.('error', ignore);
      const isKept = !error || ['rejected', 'locked', 'expired'].includes(meaningOf(error, true));
      client.release?.(isKept ? undefined : error);
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
    const login = pool._clients?.[length]?.connection;
    if (login) destroyLater(login, () => isConnecting);
  });
}

/**
 * Ends the statement of a client that is about to be discarded: while it waits for a lock, the server does not notice that
 * its client has gone, so that each attempt would leave another process behind.
 */
function cancel({ Client, options }: PgPool, { processID, secretKey }: PgClient): void {
  const { connection, host, port } = processID && Client ? new Client(options) : ({} as Partial<PgClient>);
  if (!connection?.connect || !connection.on) return;
  connection.on('error', ignore);
  connection.on('connect', () => connection.cancel?.(processID!, secretKey));
  if (host?.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
  destroyLater(connection, () => true);
}

function destroyLater(connection: PgClient['connection'], isHung: () => boolean): void {
  const end = () => isHung() && connection?.stream?.destroy();
  AbortSignal.timeout(hungMs).addEventListener('abort', end);
}

/** Whether a transaction is open. Exact after a statement, and unless one was begun and not awaited, before it. */
export function isInTransaction(client: PgClient): boolean {
  return /^[TE]$/.test(client.getTransactionStatus?.() ?? '') || client.isInTransaction?.() === true;
}

function ignore() {}
