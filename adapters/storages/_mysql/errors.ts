import type { Meaning } from '../_shared/meaning.js';
import type { Explanation } from '../_shared/server-table.js';
import { firstIn, isFaultOfProgram } from '../_shared/wrapped-error.js';

/** What the server said in an error: its number and its SQLSTATE. */
export interface ServerError {
  readonly errno: number;
  readonly sqlState: string;
}

/** Returns the first error of the server in an error and in what it wraps. Those of the system have negative numbers. */
export function serverErrorIn(error: unknown): ServerError | undefined {
  return firstIn(error, (candidate) => {
    const { errno, sqlState } = candidate;
    const isOfServer = typeof errno === 'number' && errno > 0 && typeof sqlState === 'string';
    return isOfServer ? { errno, sqlState } : undefined;
  });
}

/** Of a unique index. */
export const duplicateKey = 1062;

/** A value is missing in a column that has no default. */
export const noDefault = 1364;

/** The statement is larger than `max_allowed_packet`. */
const packetTooLarge = 1153;

/** The server had ended the idle connection before it read the statement. */
const idleConnectionEnded = 4031;

/** What the server's error numbers mean, as MariaDB, MySQL and TiDB document them. */
const meanings: ReadonlyMap<number, Meaning> = new Map<number, Meaning>([
  // Rolled back: a record has changed since the snapshot (MariaDB's innodb_snapshot_isolation), a deadlock, at commit.
  [1020, 'transient'],
  [1213, 'transient'],
  [3101, 'transient'],
  // TiDB: retryable, a write conflict.
  [8022, 'transient'],
  [9007, 'transient'],
  // Too many connections, no quorum, too many prepared statements.
  [1040, 'transient'],
  [1203, 'transient'],
  [1226, 'transient'],
  [1047, 'transient'],
  [1461, 'transient'],
  // A full disk, a full tablespace.
  [1021, 'transient'],
  [1114, 'transient'],
  // Read-only, found after a failover.
  [1290, 'transient'],
  [1792, 'transient'],
  [1836, 'transient'],
  [idleConnectionEnded, 'transient'],
  // A wait for a lock that was too long.
  [1205, 'locked'],
  // MariaDB's `max_statement_time`, MySQL's `max_execution_time`.
  [1969, 'expired'],
  [3024, 'expired'],
  // Not even read.
  [packetTooLarge, 'rejected'],
  // No such column, no such table, no grant on a table or a column, a column without a value.
  [1054, 'setup'],
  [1146, 'setup'],
  [1142, 'setup'],
  [1143, 'setup'],
  [noDefault, 'setup'],
  // A syntax error.
  [1064, 'statement'],
  // The commit may have succeeded: it failed, its rollback failed, not all was rolled back, the connection was killed (to which
  // proxies give other states).
  [1180, 'unknown'],
  [1181, 'unknown'],
  [1196, 'unknown'],
  [1927, 'unknown'],
  // TiDB, Vitess and proxies report this for anything.
  [1105, 'unknown'],
]);

/** Numbers of a user, a host or a database that the server refuses for good, at the login. */
const refusedLogins = [1044, 1045, 1049, 1130, 1698];

export function explain(error: unknown, wasSent: boolean): Explanation {
  const said = serverErrorIn(error);
  if (!said) return { meaning: meaningOfDriver(error, wasSent), isReusable: false };
  const meaning = wasSent ? meaningOf(said) : meaningBeforeSending(said);
  // After an error of the server the connection can be used again, except after these: the server hangs up.
  return { meaning, isReusable: said.errno !== packetTooLarge && said.errno !== idleConnectionEnded };
}

function meaningBeforeSending(said: ServerError): Meaning {
  const meaning = meaningOf(said);
  // A server that says no says it again: another user, another host, a password that has expired.
  if (meaning === 'rejected' || meaning === 'statement' || refusedLogins.includes(said.errno))
    return 'refused';
  return meaning === 'setup' ? 'setup' : 'transient';
}

function meaningOf({ errno, sqlState }: ServerError): Meaning {
  const meaning = meanings.get(errno);
  if (meaning) return meaning;
  // The connection broke, or the statement was interrupted.
  if (sqlState.startsWith('08') || sqlState.startsWith('70')) return 'unknown';
  // A number that is none of MySQL's or MariaDB's: of a proxy.
  if (errno < 1000 || errno > 7999) return 'unknown';
  // The server says that it rolled back the statement, whatever the reason: a CHECK, a SIGNAL of a trigger, a limit.
  return 'rejected';
}

/** What an error means that is not the server's, but the driver's, a library's or the system's. */
function meaningOfDriver(error: unknown, wasSent: boolean): Meaning {
  if (wasSent) return 'unknown';
  return isFaultOfProgram(error) ? 'program' : 'transient';
}

/** A grant on a table or on a column is missing. */
export function isDenied(error: unknown): boolean {
  const errno = serverErrorIn(error)?.errno;
  return errno === 1142 || errno === 1143;
}
