import type { Pool } from './_connector.js';
import { meaningOf } from './_postgres-errors.js';

/** The part of a `pg` Pool or Client, of PGlite, or of a custom object that this storage uses. */
export interface PostgresPool {
  // biome-ignore lint/suspicious/noExplicitAny: drivers disagree on what a value and a row may be
  query(text: string, values?: any[]): Promise<{ rows: any[]; rowCount?: number | null }>;
}

/** The part of a `pg` Pool that this storage uses. */
export interface PgPool {
  readonly totalCount: number;
  readonly options?: { readonly max?: number };
  /** No documented member: the clients, also while they connect. */
  readonly _clients?: readonly PgClient[];
  connect(callback: (error: unknown, client: PgClient) => void): void;
}

export interface PgClient extends PostgresPool {
  /** `I` if no transaction is open. Absent in versions of `pg` from before 2025. */
  getTransactionStatus?(): string | null;
  /** No documented members. */
  readonly connection?: {
    readonly parsedStatements?: object;
    readonly stream?: { destroy(): unknown };
    on?(event: 'readyForQuery', listener: (message: Message) => void): unknown;
    off?(event: 'readyForQuery', listener: (message: Message) => void): unknown;
  };
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

export function isPool(pool: PostgresPool): pool is PostgresPool & PgPool {
  const { totalCount, connect } = pool as Partial<PgPool>;
  return totalCount !== undefined && typeof connect === 'function';
}

/** Checks clients out of a `pg` Pool, to hear their notices. */
export function poolOf(pool: PostgresPool): Pool<PgClient> {
  // Only what was checked out is released.
  if (!isPool(pool))
    return { connect: () => ({ connection: Promise.resolve(pool) }), isFull: () => true, release() {} };
  return {
    connect() {
      const { length = 0 } = pool._clients ?? [];
      const connection = new Promise<PgClient>((resolve, reject) => {
        pool.connect((error, client) => {
          // Listen at once: the server may close the connection right away, and an unheard `error` event ends the process.
          client?.on?.('error', ignore);
          if (error) reject(error);
          else resolve(client);
        });
      });
      const stream = pool._clients?.[length]?.connection?.stream;
      return { connection, abort: stream && (() => stream.destroy()) };
    },
    isFull: () => pool.totalCount >= (pool.options?.max ?? Number.POSITIVE_INFINITY),
    /** With an error the pool discards the connection; for a rejected plant the connection is kept. */
    release(client, error) {
      client.off?.('error', ignore);
      const isKept = !error || ['rejected', 'locked', 'expired'].includes(meaningOf(error, true));
      client.release?.(isKept ? undefined : error);
    },
  };
}

/** Whether a transaction is open. Exact after a statement, and unless one was begun and not awaited, before it. */
export function isInTransaction(client: PgClient): boolean {
  return /^[TE]$/.test(client.getTransactionStatus?.() ?? '') || client.isInTransaction?.() === true;
}

function ignore() {}
