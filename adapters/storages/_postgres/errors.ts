import { isFaultOfProgram } from '../../../src/for-storages.js';
import type { Meaning } from '../_shared/meaning.js';
import { missingIndex, missingTable, unfilledColumn } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import type { Explanation } from '../_shared/table-server.js';
import { type ErrorMembers, firstIn } from '../_shared/wrapped-error.js';

/** What the server said in an error: fields of the message `ErrorResponse` of PostgreSQL's protocol. */
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

/** What single SQLSTATEs mean. */
const meanings: Readonly<Record<string, Meaning>> = {
  // Serialization failure, deadlock.
  '40001': 'conflict',
  '40P01': 'conflict',
  // Found after a failover: a read-only standby.
  '25006': 'conflict',
  // The connection came with a transaction that had failed: another one may not.
  '25P02': 'conflict',
  // The server had ended the idle connection before it read the statement.
  '25P03': 'conflict',
  '57P05': 'conflict',
  // The server is starting or shutting down, and takes no login.
  '57P03': 'conflict',
  // A pooler has no server of this name.
  '3D000': 'conflict',
  // No lock within `lock_timeout`.
  '55P03': 'locked',
  // Cancelled by `statement_timeout` or by an administrator: the server says that it rolled back.
  '57014': 'conflict',
  // `transaction_timeout` ends the connection, and with it the statement, or what came after its commit.
  '25P04': 'unknown',
  // The server does not know whether the statement completed.
  '40003': 'unknown',
};

/** What the other SQLSTATEs of a class mean. */
const classMeanings: Readonly<Record<string, Meaning>> = {
  // Too many connections, a full disk, no memory.
  '53': 'conflict',
  // A pooler cannot log in.
  '28': 'conflict',
  // The connection broke; the server shut down; input or output failed; an internal error.
  '08': 'unknown',
  '57': 'unknown',
  '58': 'unknown',
  XX: 'unknown',
};

/**
 * No such table or column, no index for ON CONFLICT or one that is deferrable, no grant or a policy, a generated column, a
 * column without a value; a syntax error, no parameter of this number, no such function.
 */
const setupCodes = '42P01 42703 42P10 55000 42501 428C9 23502 42601 42P02 42883'.split(' ');

/** The codes after which the server hangs up. */
const fatalCodes = ['25P03', '25P04', '57P01', '57P02', '57P03', '57P04', '57P05'];

/** Meanings after which a connection is not used again: its server may be another one by now, or it is in a transaction. */
const uselessAfter: readonly Meaning[] = [
  'unknown',
  'conflict',
  'closed',
  'no login',
  'open transaction',
  'program',
];

/** @param names the columns that each create fills: a null in one of them is the fault of its plant */
export function explain(error: unknown, wasSent: boolean, names: readonly string[]): Explanation {
  const said = serverErrorIn(error);
  if (!said) return { meaning: meaningOfDriver(error, wasSent), isReusable: false };
  const meaning = wasSent ? meaningOf(said, names) : meaningOfLogin(said);
  const isReusable = !fatalCodes.includes(said.sqlState) && !uselessAfter.includes(meaning);
  return { meaning, isReusable, isOfFunction: said.isOfFunction };
}

function meaningOf(
  { sqlState, isOfFunction, isWhole, column }: ServerError,
  names: readonly string[],
): Meaning {
  const isOfPlant = sqlState === '23502' && names.includes(String(column));
  // A policy, or the domain of a column, rejects the value of one row.
  const isOfValue = sqlState === '42501' || (sqlState === '23502' && column === undefined);
  if (!isOfFunction && !isOfPlant && setupCodes.includes(sqlState))
    return isWhole && !isOfValue ? 'setup' : 'setup, or of a plant';
  // The server says that it rolled back: a constraint, a limit, a policy, a trigger with a code of its own.
  const meaning = meanings[sqlState] ?? classMeanings[sqlState.slice(0, 2)] ?? 'rejected';
  // A function fails before the commit: its plant may be stored later, if this is how its connection or the server ends.
  if (isOfFunction && meaning === 'unknown') return sqlState.startsWith('57') ? 'conflict' : 'rejected';
  return meaning;
}

/** What the server says before it takes a statement is about no plant. */
function meaningOfLogin({ sqlState }: ServerError): Meaning {
  if (sqlState === '25P02') return 'open transaction';
  const meaning = meanings[sqlState] ?? classMeanings[sqlState.slice(0, 2)];
  const isForGood = meaning === undefined || sqlState.startsWith('28') || sqlState === '3D000';
  return isForGood ? 'no login' : 'conflict';
}

/** What an error means that is not the server's, but the driver's, a library's or the system's. */
function meaningOfDriver(error: unknown, wasSent: boolean): Meaning {
  // Nobody listens: nothing can have been sent. Also on a driver that connects when it is first used.
  if (firstIn(error, ({ code }) => (code === 'ECONNREFUSED' ? code : undefined))) return 'conflict';
  if (wasSent) return 'unknown';
  return isFaultOfProgram(error) ? 'program' : 'conflict';
}

/** Returns what is wrong with a table, or with the grants on it, after an error of a statement, and what to do, in a sentence. */
export function remedyOf(spec: TableSpec, error: unknown): string | undefined {
  const said = serverErrorIn(error);
  switch (said?.sqlState) {
    case '42P01':
      return missingTable(spec);
    case '42P10':
      return missingIndex(spec);
    case '55000':
      return `the unique index of (${spec.key.join(', ')}) must not be DEFERRABLE, or it is a view that takes no INSERT`;
    case '42501':
      return `the role of the pool may not use it. Run: GRANT SELECT, INSERT ON ${spec.name} TO ..., and GRANT USAGE ON SCHEMA ${schemaOf(spec)} TO ...; with row-level security, a policy must let it insert and read plants`;
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
  return `the role of the pool may not create it. Run: GRANT CREATE, USAGE ON SCHEMA ${schemaOf(spec)} TO ...`;
}

const schemaOf = ({ container }: TableSpec) => (container ? `"${container}"` : '...');
