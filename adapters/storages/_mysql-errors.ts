import type { Meaning } from './_sql.js';

/** An error of the server (`errno`, `sqlState`) or of the connection. */
export interface MysqlError {
  readonly errno?: number;
  readonly sqlState?: string;
}

/** The server's error numbers that matter here, as MariaDB, MySQL and TiDB document them. */
export const numbers = {
  tooManyConnections: 1040,
  noQuorum: 1047,
  duplicateKey: 1062,
  unknownError: 1105,
  packetTooLarge: 1153,
  commitFailed: 1180,
  rollbackFailed: 1181,
  someNotRolledBack: 1196,
  tooManyUserConnections: 1203,
  lockWaitTimeout: 1205,
  deadlock: 1213,
  readOnly: 1290,
  readOnlyTransaction: 1792,
  readOnlyMode: 1836,
  connectionKilled: 1927,
  statementTimeout: 1969,
  queryTimeout: 3024,
  rolledBackAtCommit: 3101,
  tidbRetryable: 8022,
  tidbWriteConflict: 9007,
} as const;

/** The server rolled back, and may take the plants later. */
const transient = new Set<number>([
  numbers.tooManyConnections,
  numbers.noQuorum,
  numbers.tooManyUserConnections,
  numbers.lockWaitTimeout,
  numbers.deadlock,
  numbers.readOnly,
  numbers.readOnlyTransaction,
  numbers.readOnlyMode,
  numbers.rolledBackAtCommit,
  numbers.tidbRetryable,
  numbers.tidbWriteConflict,
]);

/** The commit may have gone through. TiDB, Vitess and proxies say 1105 of anything. */
const unknown = new Set<number>([
  numbers.unknownError,
  numbers.commitFailed,
  numbers.rollbackFailed,
  numbers.someNotRolledBack,
  numbers.connectionKilled,
  numbers.statementTimeout,
  numbers.queryTimeout,
]);

export function meaningOf(error: unknown, isConnecting: boolean): Meaning {
  const { errno = 0, sqlState } = error as MysqlError;
  if (transient.has(errno)) return 'transient';
  // Nothing has been sent yet; but a server that says no says it again.
  if (isConnecting) return sqlState ? 'permanent' : 'transient';
  // The connection broke, or the statement was interrupted (70100), or the number is none of MySQL's or MariaDB's.
  if (!sqlState || /^(08|70)/.test(sqlState) || errno < 1000 || errno >= 8000) {
    return errno === numbers.packetTooLarge ? 'plantAtFault' : 'unknown';
  }
  // The server says that it rolled back the statement, whatever the reason: a CHECK, a SIGNAL of a trigger, a limit.
  return unknown.has(errno) ? 'unknown' : 'plantAtFault';
}
