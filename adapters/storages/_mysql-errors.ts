import type { Meaning } from './_server.js';

/** An error of the server (`errno`, `sqlState`) or of the connection. */
export interface MysqlError {
  readonly errno?: number;
  readonly sqlState?: string;
}

// The server's error numbers that matter here, as MariaDB, MySQL and TiDB document them.

export const duplicateKey = 1062;
export const packetTooLarge = 1153;

/** The server rolled back, and may take the plants later. */
const transient = {
  tooManyConnections: 1040,
  noQuorum: 1047,
  tooManyUserConnections: 1203,
  deadlock: 1213,
  readOnly: 1290,
  readOnlyTransaction: 1792,
  readOnlyMode: 1836,
  rolledBackAtCommit: 3101,
  tidbRetryable: 8022,
  tidbWriteConflict: 9007,
};

const lockWaitTimeout = 1205;

/** MariaDB's `max_statement_time`, MySQL's `max_execution_time`: the server says that it rolled back. */
const statementTimeouts = [1969, 3024];

/** The commit may have succeeded. TiDB, Vitess and proxies report 1105 for anything. */
const unknown = {
  unknownError: 1105,
  commitFailed: 1180,
  rollbackFailed: 1181,
  someNotRolledBack: 1196,
  connectionKilled: 1927,
};

export function meaningOf(error: unknown, isSent: boolean): Meaning {
  const { errno = 0, sqlState } = error as MysqlError;
  const isOf = (numbers: Record<string, number>) => Object.values(numbers).includes(errno);
  if (isOf(transient)) return 'transient';
  // Nothing was sent; but a server that says no says it again.
  if (!isSent) return sqlState ? 'permanent' : 'transient';
  if (errno === lockWaitTimeout) return 'locked';
  if (statementTimeouts.includes(errno)) return 'expired';
  if (errno === packetTooLarge) return 'rejected';
  // The connection broke, or the statement was interrupted (70100), or the number is none of MySQL's or MariaDB's.
  if (!sqlState || /^(08|70)/.test(sqlState) || errno < 1000 || errno >= 8000) return 'unknown';
  // The server says that it rolled back the statement, whatever the reason: a CHECK, a SIGNAL of a trigger, a limit.
  return isOf(unknown) ? 'unknown' : 'rejected';
}
