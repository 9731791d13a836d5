import { isFaultOfProgram } from '../../../src/for-storages.js';
import type { Meaning } from '../_shared/meaning.js';
import { missingTable, unfilledColumn } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import type { Explanation } from '../_shared/table-server.js';
import { firstIn } from '../_shared/wrapped-error.js';

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

/** No such table. */
const noSuchTable = 1146;

/** No grant on a table, or on a column. */
const isDenied = (errno: number | undefined) => errno === 1142 || errno === 1143;

/** The statement is larger than `max_allowed_packet`. */
const packetTooLarge = 1153;

/** The server had ended the idle connection before it read the statement. */
const idleConnectionEnded = 4031;

/** What the server's error numbers mean, as MariaDB, MySQL and TiDB document them. */
const meanings: ReadonlyMap<number, Meaning> = new Map<number, Meaning>([
  // Rolled back: a record has changed since the snapshot (MariaDB's innodb_snapshot_isolation), a deadlock, at commit.
  [1020, 'conflict'],
  [1213, 'conflict'],
  [3101, 'conflict'],
  // TiDB: retryable, a write conflict.
  [8022, 'conflict'],
  [9007, 'conflict'],
  // Too many connections, no quorum, too many prepared statements.
  [1040, 'conflict'],
  [1203, 'conflict'],
  [1226, 'conflict'],
  [1047, 'conflict'],
  [1461, 'conflict'],
  // A full disk, a full tablespace.
  [1021, 'conflict'],
  [1114, 'conflict'],
  // Read-only, found after a failover.
  [1290, 'conflict'],
  [1792, 'conflict'],
  [1836, 'conflict'],
  [idleConnectionEnded, 'conflict'],
  // A wait for a lock that was too long.
  [1205, 'locked'],
  // MariaDB's `max_statement_time`, MySQL's `max_execution_time`.
  [1969, 'conflict'],
  [3024, 'conflict'],
  // Not even read.
  [packetTooLarge, 'rejected'],
  // No such column, no such table, no grant on a table or a column, a column without a value.
  [1054, 'setup, or of a plant'],
  [noSuchTable, 'setup, or of a plant'],
  [1142, 'setup, or of a plant'],
  [1143, 'setup, or of a plant'],
  [noDefault, 'setup, or of a plant'],
  // A syntax error.
  [1064, 'setup, or of a plant'],
  // The commit may have succeeded: it failed, its rollback failed, not all was rolled back, the connection was killed (to which
  // proxies give other states).
  [1180, 'unknown'],
  [1181, 'unknown'],
  [1196, 'unknown'],
  [1927, 'unknown'],
  // TiDB, Vitess and proxies report this for anything.
  [1105, 'unknown'],
]);

export function explain(error: unknown, wasSent: boolean): Explanation {
  const said = serverErrorIn(error);
  if (!said) return { meaning: meaningOfDriver(error, wasSent), isReusable: false };
  const meaning = wasSent ? meaningOf(said) : meaningOfLogin(said);
  // After an error of the server the connection can be used again, except after these: the server hangs up.
  return { meaning, isReusable: said.errno !== packetTooLarge && said.errno !== idleConnectionEnded };
}

/** What the server says before it takes a statement is about no plant. */
function meaningOfLogin(said: ServerError): Meaning {
  const meaning = meaningOf(said);
  return meaning === 'conflict' || meaning === 'unknown' ? 'conflict' : 'no login';
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
  return isFaultOfProgram(error) ? 'program' : 'conflict';
}

/** Returns what is wrong with a table, or with the grants on it, after an error of a statement, and what to do, in a sentence. */
export function remedyOf(spec: TableSpec, error: unknown): string | undefined {
  const errno = serverErrorIn(error)?.errno;
  if (errno === noSuchTable) return missingTable(spec);
  if (errno === noDefault) return unfilledColumn(undefined);
  return isDenied(errno) ? grantOf(spec, 'SELECT, INSERT') : undefined;
}

/** Returns why the table was not created, and what to do. */
export function remedyOfCreate(spec: TableSpec, error: unknown): string | undefined {
  return isDenied(serverErrorIn(error)?.errno) ? grantOf(spec, 'CREATE') : undefined;
}

function grantOf({ name, container }: TableSpec, grant: string): string {
  const on = grant === 'CREATE' ? `${container ? `\`${container}\`` : 'the database'}.*` : name;
  return `its user may not ${grant}. Run: GRANT ${grant} ON ${on} TO ...`;
}
