import { type Explanation, type Meanings, meaningIn } from '../_shared/server-table.js';

/** An error of the server (`errno`, `sqlState`) or of the connection. */
export interface MysqlError {
  readonly errno?: number;
  readonly sqlState?: string;
  readonly message?: string;
}

/** Of a unique index. */
export const duplicateKey = 1062;

/**
 * By the server's error numbers, as MariaDB, MySQL and TiDB document them, by SQLSTATE, message and the name of the table;
 * `unsent` is in front if no plant was sent.
 */
const meanings: Meanings = [
  // The server rolled back, and may take the plants later: too many connections (1040, 1203), no quorum (1047), a deadlock
  // (1213), read-only (1290, 1792, 1836), too many prepared statements (1461), rolled back at commit (3101), an idle connection
  // ended before the statement was read (4031), TiDB: retryable (8022), a write conflict (9007).
  [/^(unsent )?(1040|1047|1203|1213|1290|1461|1792|1836|3101|4031|8022|9007) /, 'transient'],
  // A user, a host or a database that the server refuses for good.
  [/^unsent (104[459]|1130|1698) /, 'login'],
  // No grant on the table, or on a column of it. A trigger may lack one on another table: the message ends with the quoted name.
  [/^(unsent )?114[23] .*['`](.+)['`] \2$/i, 'denied'],
  // A server that says no says it again; or the app has ended its pool.
  [/^unsent (\d+ \w{5} |.*Pool is closed\. )/, 'permanent'],
  [/^unsent/, 'transient'],
  // The server says that it rolled back after a wait for a lock, MariaDB's `max_statement_time`, MySQL's `max_execution_time`.
  [/^1205 /, 'locked'],
  [/^(1969|3024) /, 'expired'],
  // A packet too large was not even read.
  [/^1153 /, 'rejected'],
  [/^(1054|1146) /, 'missing'],
  // The server says that it rolled back the statement, whatever the reason: a CHECK, a SIGNAL of a trigger, a limit. Not if
  // the connection broke, or the statement was interrupted (70100), or the number is none of MySQL's or MariaDB's. And not if
  // the commit may have succeeded: it failed (1180), its rollback failed (1181), not all was rolled back (1196), or the
  // connection was killed (1927, to which proxies give other states); TiDB, Vitess and proxies report 1105 for anything.
  [/^(?!1105|118[01]|1196|1927)[1-7]\d{3} (?!08|70)\w{5} /, 'rejected'],
];

/** @param table its name without that of its database */
export function explain(error: unknown, wasSent: boolean, table: string): Explanation {
  const { errno, sqlState, message } = Object(error) as MysqlError;
  const text = `${wasSent ? '' : 'unsent '}${errno} ${sqlState} ${message} ${table}`;
  // After an error of the server the connection can be used again, except after these: the server hangs up.
  return [meaningIn(meanings, text), sqlState !== undefined && errno !== 1153 && errno !== 4031];
}
