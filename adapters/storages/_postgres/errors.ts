import { isFaultOfProgram } from '../../../src/for-storages.js';
import type { LearnedTable } from '../_shared/columns.js';
import type { Meaning } from '../_shared/meaning.js';
import { missingIndex, missingTable, passTable, unfilledColumn } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import type { Explanation } from '../_shared/table-server.js';
import { type ErrorMembers, firstIn } from '../_shared/wrapped-error.js';
import { rowOf } from './codes.js';

/** What the server said in an error: fields of `ErrorResponse` (https://www.postgresql.org/docs/current/protocol-error-fields.html). */
export interface ServerError {
  readonly sqlState: string;
  /** Whether it was met in a function, such as that of a trigger: then nothing is committed, and it may be about one plant. */
  readonly isOfFunction: boolean;
  /** Whether the driver shows all fields: then it is known of an error without `where` that no function has met it. */
  readonly isWhole: boolean;
  readonly column: unknown;
}

/**
 * The classes of SQLSTATE, by appendix A of PostgreSQL's manual. `P0` is the only one with P: Prisma's own codes, such as
 * `P2010`, look like SQLSTATEs, and so does `EPIPE`.
 */
const classes =
  '00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 F0 HV P0 XX';

interface PostgresMembers extends ErrorMembers {
  readonly originalCode?: unknown;
  readonly column?: unknown;
  readonly routine?: unknown;
}

/**
 * Returns the first SQLSTATE in an error and in what it wraps: `code`, Prisma's `originalCode`, or Bun's `errno`, which is a text. A
 * class of the app's own, which a trigger may raise, counts beside a `severity`, which only the server gives.
 */
export function serverErrorIn(error: unknown): ServerError | undefined {
  return firstIn(error, (candidate) => {
    const members: PostgresMembers = candidate;
    const { originalCode = members.code, errno, severity, where, routine, column } = members;
    const isSqlState = (code: string) =>
      /^[0-9A-Z]{5}$/.test(code) && (classes.includes(code.slice(0, 2)) || typeof severity === 'string');
    const codes = [String(originalCode), ...(typeof errno === 'string' ? [errno] : [])];
    const sqlState = codes.find(isSqlState);
    if (sqlState === undefined) return undefined;
    return {
      sqlState,
      isOfFunction: Boolean(where),
      isWhole: typeof routine === 'string',
      column,
    };
  });
}

/** @param names the columns that each create fills: a null in one of them is the fault of its plant */
export function explain(error: unknown, names: readonly string[]): Explanation {
  const said = serverErrorIn(error);
  if (!said) return { meaning: meaningOfDriver(error), keepsConnection: false };
  const row = rowOf(said.sqlState);
  if (said.isOfFunction) return ofFunction(said.sqlState, row);
  const { sqlState, column, isWhole } = said;
  // An INSERT of nothing does not meet these: a column of the app without a value, an index that is deferrable.
  const isUnfilled = sqlState === '23502' && column !== undefined && !names.includes(String(column));
  if (isUnfilled || (sqlState === '55000' && isWhole))
    return { meaning: 'setup', keepsConnection: true, isOfAll: true };
  return row ?? { meaning: 'unknown', keepsConnection: false };
}

/** What a function can meet that is about no plant: a standby, a deadlock, a full disk, a lock, an old snapshot, the end of the server. */
const notOfPlant = /^(25006|40001|40P01|53|55P03|57|72)/;

/** Explains what a function has met or raised, such as that of a trigger: nothing is committed. */
function ofFunction(sqlState: string, row: Explanation | undefined): Explanation {
  const { meaning, keepsConnection } = row ?? {
    meaning: 'conflict',
    keepsConnection: !sqlState.startsWith('57'),
  };
  return { meaning: notOfPlant.test(sqlState) ? meaning : 'rejected', keepsConnection, isOfFunction: true };
}

/** What an error means that is not the server's, but the driver's, a library's or the system's. */
function meaningOfDriver(error: unknown): Meaning {
  // Nobody listens: nothing can have been sent. Also on a driver that connects when it is first used.
  if (firstIn(error, ({ code }) => (code === 'ECONNREFUSED' ? code : undefined))) return 'conflict';
  return isFaultOfProgram(error) ? 'program' : 'unknown';
}

/** Returns what is wrong with a table, or with the grants on it, after an error of a statement, and what to do, in a sentence. */
export function remedyOf(spec: TableSpec, error: unknown, table?: LearnedTable): string | undefined {
  const said = serverErrorIn(error);
  switch (said?.sqlState) {
    case '42P01':
      return missingTable(spec);
    case '42P10':
      return table?.mayTakeNoIndex ? unseenKey(spec) : missingIndex(spec);
    case '55000':
      return `the unique index of (${spec.key.join(', ')}) must not be DEFERRABLE, or it is a view that takes no INSERT`;
    case '42501':
      return `the role of the pool may not use it. It needs GRANT SELECT, INSERT ON ${spec.name} TO ..., and GRANT USAGE ON SCHEMA ${quotedSchema(spec)} TO ...; with row-level security, a policy must let it insert and read plants`;
    case '428C9':
      return 'one of the columns that plants are stored in is GENERATED ALWAYS: make it GENERATED BY DEFAULT, or a plain column';
    case '23502':
      return unfilledColumn(said.column);
    default:
      return undefined;
  }
}

/** Returns why the table was not created, and what to do. */
export function remedyOfCreate(spec: TableSpec, error: unknown): string | undefined {
  if (serverErrorIn(error)?.sqlState !== '42501') return undefined;
  return `the role of the pool may not create it. It needs GRANT CREATE, USAGE ON SCHEMA ${quotedSchema(spec)} TO ...`;
}

const unseenKey = ({ key }: TableSpec) =>
  `it is a view or has partitions, and no unique index of exactly (${key.join(', ')}) is to be seen. Partition it by these columns, or, of a view: ${passTable}`;

const quotedSchema = ({ container }: TableSpec) => (container ? `"${container}"` : '...');
