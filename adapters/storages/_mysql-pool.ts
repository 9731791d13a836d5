import type { Pool } from './_connector.js';
import { type MysqlError, packetTooLarge } from './_mysql-errors.js';

/** A statement as `mysql2` takes it. */
export interface MysqlStatement {
  sql: string;
  rowsAsArray: boolean;
  nestTables: boolean;
  typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** The part of a `mysql2/promise` connection that this storage uses. */
export interface MysqlConnection {
  execute(
    statement: string | MysqlStatement,
    values: (string | Date | null)[],
  ): Promise<readonly [unknown, unknown]>;
  unprepare(statement: string | MysqlStatement): unknown;
  release(): void;
  destroy(): void;
}

/** The part that this storage uses of a `mysql2/promise` pool, or of a pool cluster's namespace (`cluster.of('*', 'ORDER')`). */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** The part of the pool behind a `mysql2/promise` pool that this storage uses. No documented members. */
interface CorePool {
  readonly config?: { readonly connectionLimit?: number };
  /** The connections, also while they connect. */
  readonly _allConnections?: {
    readonly length: number;
    get?(i: number): { stream?: { destroy(error: Error): void } } | undefined;
  };
}

export function poolOf(pool: MysqlPool): Pool<MysqlConnection> {
  const core: CorePool = (pool as { pool?: CorePool }).pool ?? {};
  return {
    connect() {
      const count = core._allConnections?.length ?? 0;
      const connection = (async () => pool.getConnection())();
      const stream = core._allConnections?.get?.(count)?.stream;
      return { connection, abort: stream && (() => stream.destroy(new Error('the login did not end'))) };
    },
    isFull: () =>
      (core._allConnections?.length ?? 0) >= (core.config?.connectionLimit || Number.POSITIVE_INFINITY),
    /** After a server error the connection can be reused, except for 1153, after which the server hangs up. */
    release(connection, error) {
      const { errno, sqlState } = (error ?? {}) as MysqlError;
      if (error && (!sqlState || errno === packetTooLarge)) connection.destroy();
      else connection.release();
    },
  };
}
