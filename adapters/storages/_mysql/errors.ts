import { isFaultOfProgram } from '../../../src/for-storages.js';
import { missingTable, unfilledColumn } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import type { Explanation } from '../_shared/table-server.js';
import { firstIn } from '../_shared/wrapped-error.js';
import { codes } from './codes.js';

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

/** A value is missing in a column that has no default. */
export const noDefault = 1364;

/** Whether a unique index has rejected a row, and not a SIGNAL of the same number. */
export function isDuplicate(error: unknown): boolean {
  const said = serverErrorIn(error);
  return said?.errno === 1062 && !said.sqlState.startsWith('45');
}

/** Whether the server has lost a prepared statement, as one that was replaced behind a connection that stays: nothing was run. */
export const isUnprepared = (error: unknown) => [1243, 1615].includes(Number(serverErrorIn(error)?.errno));

/** No grant on a table, or on a column. */
const isDenied = (errno: number | undefined) => errno === 1142 || errno === 1143;

/** No such table, no such database. */
const isMissing = (errno: number | undefined) => errno === 1146 || errno === 1049;

export function explain(error: unknown): Explanation {
  const said = serverErrorIn(error);
  if (said) return rowOf(said) ?? { meaning: 'unknown', keepsConnection: false };
  // The driver's, a library's or the system's.
  return { meaning: isFaultOfProgram(error) ? 'program' : 'unknown', keepsConnection: false };
}

function rowOf({ errno, sqlState }: ServerError): Explanation | undefined {
  // An app's own, of SIGNAL, which can have any number.
  if (sqlState.startsWith('45')) return { meaning: 'rejected', keepsConnection: true };
  const row = codes.get(errno);
  // A number that is none of MySQL's or MariaDB's is of a proxy, whatever state that gives.
  const isOfServer = errno >= 1000 && errno <= 7999;
  return row ?? (isOfServer ? codes.get(sqlState.slice(0, 2)) : undefined);
}

/** Returns what is wrong with a table, or with the grants on it, after an error of a statement, and what to do, in a sentence. */
export function remedyOf(spec: TableSpec, error: unknown): string | undefined {
  const errno = serverErrorIn(error)?.errno;
  if (isMissing(errno)) return missingTable(spec);
  if (errno === noDefault) return unfilledColumn(undefined);
  return isDenied(errno) ? grantOf(spec, 'SELECT, INSERT') : undefined;
}

/** Returns why the table was not created, and what to do. */
export function remedyOfCreate(spec: TableSpec, error: unknown): string | undefined {
  return isDenied(serverErrorIn(error)?.errno) ? grantOf(spec, 'CREATE') : undefined;
}

function grantOf({ name, container }: TableSpec, grant: string): string {
  const on = grant === 'CREATE' ? `${container ? `\`${container}\`` : 'the database'}.*` : name;
  return `its user may not ${grant}. It needs GRANT ${grant} ON ${on} TO ...`;
}
