import type { Meaning } from './_server.js';
import type { Fault } from './_table.js';

/** An error of the server (`errno`, `sqlState`) or of the connection. */
export interface MysqlError {
  readonly errno?: number;
  readonly sqlState?: string;
  readonly message?: string;
}

// The server's error numbers that matter here, as MariaDB, MySQL and TiDB document them.

export const duplicateKey = 1062;
export const packetTooLarge = 1153;
const lockWaitTimeout = 1205;

/**
 * The server rolled back, and may take the plants later: too many connections (1040, 1203), no quorum (1047), a deadlock
 * (1213), read-only (1290, 1792, 1836), too many prepared statements (1461), rolled back at commit (3101), TiDB: retryable
 * (8022), a write conflict (9007).
 */
const transient = [1040, 1047, 1203, 1213, 1290, 1461, 1792, 1836, 3101, 8022, 9007];

/** MariaDB's `max_statement_time`, MySQL's `max_execution_time`: the server says that it rolled back. */
const statementTimeouts = [1969, 3024];

/**
 * The commit may have succeeded: it failed (1180), its rollback failed (1181), or not all was rolled back (1196), or the
 * connection was killed (1927). TiDB, Vitess and proxies report 1105 for anything.
 */
const unknown = [1105, 1180, 1181, 1196, 1927];

/** The app has ended its pool. */
const hasEnded = 'Pool is closed.';

export function meaningOf(error: unknown, isSent: boolean): Meaning {
  const { errno = 0, sqlState, message } = error as MysqlError;
  if (transient.includes(errno)) return 'transient';
  // Nothing was sent; but a server that says no says it again.
  if (!isSent) return sqlState || message === hasEnded ? 'permanent' : 'transient';
  if (errno === lockWaitTimeout) return 'locked';
  if (statementTimeouts.includes(errno)) return 'expired';
  if (errno === packetTooLarge) return 'rejected';
  // The connection broke, or the statement was interrupted (70100), or the number is none of MySQL's or MariaDB's.
  if (!sqlState || /^(08|70)/.test(sqlState) || errno < 1000 || errno >= 8000) return 'unknown';
  // The server says that it rolled back the statement, whatever the reason: a CHECK, a SIGNAL of a trigger, a limit.
  return unknown.includes(errno) ? 'unknown' : 'rejected';
}

/** No such table, no grant on it or on a column of it. */
const faults: Record<number, Fault> = { 1146: 'missing', 1142: 'denied', 1143: 'denied' };

/** A user, a host or a database that the server refuses for good. */
const logins = [1044, 1045, 1049, 1130, 1698];

export function faultOf(error: unknown): Fault | 'login' | undefined {
  const { errno = 0 } = Object(error) as MysqlError;
  return logins.includes(errno) ? 'login' : faults[errno];
}
