import type { CodeRow } from '../_shared/table-server.js';

/** Rows of codes that mean the same. */
const rowsOf = (codes: string, row: Omit<CodeRow, 'code'>): CodeRow[] =>
  codes.split(' ').map((code) => ({ code, ...row }));

/**
 * What SQLSTATEs mean, and classes of them, by appendix A of PostgreSQL's manual: an answer to a statement, after which nothing of it is
 * stored. A code of its own comes before its class; what is in no row is unknown.
 */
export const codes: ReadonlyMap<string, CodeRow> = new Map(
  [
    // Of a plant or of a statement: a feature, cardinality, data, constraints, what triggers and functions raise, views, limits.
    ...rowsOf('09 0A 20 21 22 23 27 2F 38 39 3F 40 42 44 54 55 P0', {
      meaning: 'rejected',
      keepsConnection: true,
    }),
    // A serialization failure, a deadlock.
    ...rowsOf('40001 40P01', { meaning: 'conflict', keepsConnection: true }),
    // No lock within `lock_timeout`.
    ...rowsOf('55P03', { meaning: 'locked', keepsConnection: true }),
    // No such table or column, no index for ON CONFLICT or one that is deferrable, no grant or a policy, a generated column; a syntax
    // error, no parameter of this number, no such function.
    ...rowsOf('42P01 42703 42P10 55000 42501 428C9 42601 42P02 42883', {
      meaning: 'setup',
      keepsConnection: true,
    }),
    // Read-only, as a primary is after a switchover; the server starts, or had ended the idle connection before it read the statement.
    ...rowsOf('25006 25P03 57P03 57P05', { meaning: 'conflict', keepsConnection: false }),
    // It came with a transaction that had failed.
    ...rowsOf('25P02', { meaning: 'open transaction', keepsConnection: false }),
    // A pooler has prepared the statement on another connection.
    ...rowsOf('26000 42P05', { meaning: 'conflict', keepsConnection: false }),
    // Too many connections, a full disk, no memory; a snapshot too old; cancelled, by `statement_timeout` or by an administrator.
    ...rowsOf('53 72 57014', { meaning: 'conflict', keepsConnection: false }),
    // No such user, a wrong password, no such database; a pooler that cannot log in.
    ...rowsOf('28 3D000', { meaning: 'no login', keepsConnection: false }),
    // `transaction_timeout` ends the connection, and with it the statement, or what came after its commit.
    ...rowsOf('25P04', { meaning: 'unknown', keepsConnection: false }),
    // The server does not know whether the statement completed.
    ...rowsOf('40003', { meaning: 'unknown', keepsConnection: false }),
  ].map((row) => [String(row.code), row]),
);

/** The row of a SQLSTATE, or of its class. */
export const rowOf = (sqlState: string): CodeRow | undefined =>
  codes.get(sqlState) ?? codes.get(sqlState.slice(0, 2));
