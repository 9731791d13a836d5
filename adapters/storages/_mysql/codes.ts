import type { CodeRow } from '../_shared/table-server.js';

/** Rows of codes that mean the same. */
const rowsOf = (codes: string, row: Omit<CodeRow, 'code'>): CodeRow[] =>
  codes.split(' ').map((code) => ({ code: code.length === 4 ? Number(code) : code, ...row }));

/**
 * What error numbers, and classes of SQLSTATE, mean, as MariaDB, MySQL and TiDB document them: an answer to a statement, after which
 * nothing of it is stored. A number comes before its class; what is in no row is unknown, as when a commit failed (1180), a connection
 * was killed (1927), or TiDB, Vitess or a proxy says no more than that something failed (1105).
 */
export const codes: ReadonlyMap<string | number, CodeRow> = new Map(
  [
    // Of a plant or of a statement: a truncated value, a feature, cardinality, data, constraints, what functions and procedures raise.
    ...rowsOf('01 02 0A 20 21 22 23 24 2F 38 39 42 44', { meaning: 'rejected', keepsConnection: true }),
    // Likewise, of the class HY: a value (1366, 1411, 1467, 1525, 3643), a view's CHECK OPTION, too many parameters, triggers that are too deep,
    // write their own table, commit, or recurse, no partition, SIGNAL, an undo log record too large, a generated column, a CHECK.
    ...rowsOf(
      '1366 1369 1390 1411 1422 1424 1436 1442 1456 1467 1525 1526 1644 1713 1748 1906 3105 3643 3819',
      {
        meaning: 'rejected',
        keepsConnection: true,
      },
    ),
    // Larger than `max_allowed_packet`: not even read, and the server hangs up.
    ...rowsOf('1153', { meaning: 'rejected', keepsConnection: false }),
    // Rolled back: a record has changed since the snapshot
    // (https://mariadb.com/kb/en/innodb-system-variables/#innodb_snapshot_isolation), a deadlock; another definition of the table;
    // TiDB: retryable, a write conflict, another schema; of the class 40.
    ...rowsOf('40 1020 1213 1412 8022 8028 9007', { meaning: 'conflict', keepsConnection: true }),
    // It took longer than MariaDB's `max_statement_time`, MySQL's `max_execution_time`.
    ...rowsOf('1969 3024', { meaning: 'conflict', keepsConnection: true }),
    // A wait for a lock that was too long.
    ...rowsOf('1205', { meaning: 'locked', keepsConnection: true }),
    // No such column, database, table or view behind a view, no grant on a table or a column, a column without a value, here or behind
    // a view, a syntax error, no definer, a view that takes no INSERT.
    ...rowsOf('1054 1049 1146 1356 1142 1143 1364 1423 1064 1449 1471', {
      meaning: 'setup',
      keepsConnection: true,
    }),
    // Too many connections, no quorum, too many prepared statements, transactions or locks; a full disk, a full tablespace.
    ...rowsOf('1040 1203 1226 1047 1461 1637 1206 1021 1114', {
      meaning: 'conflict',
      keepsConnection: false,
    }),
    // A server that is read-only, as after a switchover, or offline; a member of a group that had to roll back.
    ...rowsOf('1036 1290 1792 1836 3032 3101', { meaning: 'conflict', keepsConnection: false }),
    // The state of the connection: no statement of this name, also after it was prepared again; tables that the app has locked, a
    // transaction of XA; the server had ended it before it read the statement.
    ...rowsOf('1243 1615 1099 1100 1223 XA 4031', { meaning: 'conflict', keepsConnection: false }),
    // No such user, a wrong password, or a host, an account or a way to log in that is not accepted.
    ...rowsOf('28 1129 1130 1251 1524 1820 1862 3118 3159 4151', {
      meaning: 'no login',
      keepsConnection: false,
    }),
  ].map((row) => [row.code, row]),
);
