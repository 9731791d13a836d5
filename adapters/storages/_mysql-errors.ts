import type { Explanation, Meaning } from './_server.js';

/** An error of the server (`errno`, `sqlState`) or of the connection. */
export interface MysqlError {
  readonly errno?: number;
  readonly sqlState?: string;
  readonly message?: string;
}

// The server's error numbers that matter here, as MariaDB, MySQL and TiDB document them.

export const duplicateKey = 1062;
const packetTooLarge = 1153;

/**
 * The server rolled back, and may take the plants later: too many connections (1040, 1203), no quorum (1047), a deadlock
 * (1213), read-only (1290, 1792, 1836), too many prepared statements (1461), rolled back at commit (3101), TiDB: retryable
 * (8022), a write conflict (9007).
 */
const transient = [1040, 1047, 1203, 1213, 1290, 1461, 1792, 1836, 3101, 8022, 9007];

/**
 * A wait for a lock (1205), MariaDB's `max_statement_time` (1969) and MySQL's `max_execution_time` (3024): the server says
 * that it rolled back. A packet too large was not even read.
 */
const meanings: Record<number, Meaning> = {
  1205: 'locked',
  1969: 'expired',
  3024: 'expired',
  1153: 'rejected',
};

/**
 * The commit may have succeeded: it failed (1180), its rollback failed (1181), or not all was rolled back (1196), or the
 * connection was killed (1927). TiDB, Vitess and proxies report 1105 for anything.
 */
const unknown = [1105, 1180, 1181, 1196, 1927];

/** Of this table, or of one that a trigger needs. */
const missing: Record<number, Meaning> = { 1146: 'no table', 1054: 'no column' };

/** No grant on the table, or on a column of it. */
const denied = [1142, 1143];

/** A user, a host or a database that the server refuses for good. */
const logins = [1044, 1045, 1049, 1130, 1698];

/** The app has ended its pool. */
const hasEnded = 'Pool is closed.';

/** @param table its name without that of its database */
export function explain(error: unknown, wasSent: boolean, table: string): Explanation {
  const { errno, sqlState } = Object(error) as MysqlError;
  const meaning = (wasSent ? meaningOf : meaningUnsent)(Object(error), table);
  // After an error of the server the connection can be used again, except after 1153: the server hangs up.
  return [meaning, sqlState !== undefined && errno !== packetTooLarge];
}

function meaningUnsent({ errno = 0, sqlState, message }: MysqlError): Meaning {
  if (transient.includes(errno)) return 'transient';
  if (logins.includes(errno)) return 'login';
  // A server that says no says it again.
  return sqlState || message === hasEnded ? 'permanent' : 'transient';
}

function meaningOf({ errno = 0, sqlState, message = '' }: MysqlError, table: string): Meaning {
  if (transient.includes(errno)) return 'transient';
  if (meanings[errno]) return meanings[errno];
  // The connection broke, or the statement was interrupted (70100), or the number is none of MySQL's or MariaDB's.
  const isServers = sqlState && !/^(08|70)/.test(sqlState) && errno >= 1000 && errno < 8000;
  if (!isServers || unknown.includes(errno)) return 'unknown';
  // A trigger may lack a grant on another table: the message ends with the name of its table.
  const isOwn = [`'${table}'`, `\`${table}\``].some((name) =>
    message.toLowerCase().endsWith(name.toLowerCase()),
  );
  if (denied.includes(errno) && isOwn) return 'denied';
  // The server says that it rolled back the statement, whatever the reason: a CHECK, a SIGNAL of a trigger, a limit.
  return missing[errno] ?? 'rejected';
}
