import type { Meaning } from '../_shared/meaning.js';
import type { Explanation } from '../_shared/server-table.js';
import { type ErrorMembers, firstIn, isFaultOfProgram } from '../_shared/wrapped-error.js';

/** What the server said in an error: fields of the message `ErrorResponse` of PostgreSQL's protocol. */
interface ServerError {
  readonly sqlState: string;
  /** Whether a function raised it, such as that of a trigger: it is then the fault of one plant, not of the statement. */
  readonly isOfFunction: boolean;
  /** The column that takes no null, if that is the error. */
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
}

/**
 * Returns the first SQLSTATE in an error and in what it wraps: `code`, Prisma's `originalCode`, or Bun's `errno`, which is a text. A
 * class of the app's own, which a trigger may raise, counts beside a `severity`, which only the server gives.
 */
function serverErrorIn(error: unknown): ServerError | undefined {
  return firstIn(error, (candidate) => {
    const { originalCode = candidate.code, column, errno, severity } = candidate as PostgresMembers;
    const isSqlState = (code: string) =>
      /^[0-9A-Z]{5}$/.test(code) && (classes.includes(code.slice(0, 2)) || typeof severity === 'string');
    const codes = [String(originalCode), ...(typeof errno === 'string' ? [errno] : [])];
    const sqlState = codes.find(isSqlState);
    if (sqlState === undefined) return undefined;
    return { sqlState, isOfFunction: Boolean(candidate.where), column };
  });
}

/** The SQLSTATE of an error, if the server has sent one. */
export const sqlStateOf = (error: unknown): string | undefined => serverErrorIn(error)?.sqlState;

/** What single SQLSTATEs mean. */
const meanings: Readonly<Record<string, Meaning>> = {
  // Serialization failure, deadlock.
  '40001': 'transient',
  '40P01': 'transient',
  // Found after a failover: a read-only standby.
  '25006': 'transient',
  // The server had ended the idle connection before it read the statement.
  '25P03': 'transient',
  '57P05': 'transient',
  // The server is starting or shutting down, and takes no login.
  '57P03': 'transient',
  // The connection came with a transaction that had failed.
  '25P02': 'open transaction',
  // No lock within `lock_timeout`.
  '55P03': 'locked',
  // Cancelled by `statement_timeout` or by an administrator: the server says that it rolled back.
  '57014': 'expired',
  // `transaction_timeout` ends the connection, and with it the statement, or what came after its commit.
  '25P04': 'unknown',
  // The server does not know whether the statement completed.
  '40003': 'unknown',
  // No such database.
  '3D000': 'refused',
};

/** What the other SQLSTATEs of a class mean. */
const classMeanings: Readonly<Record<string, Meaning>> = {
  // The server, or a pooler before it, refuses the user or the password.
  '28': 'refused',
  // Too many connections, a full disk, no memory.
  '53': 'transient',
  // The connection broke; the server shut down; input or output failed; an internal error.
  '08': 'unknown',
  '57': 'unknown',
  '58': 'unknown',
  XX: 'unknown',
};

/** Errors of a statement that the table may be at fault for, unless a function raised them. */
const meaningsOfStatement: Readonly<Record<string, Meaning>> = {
  // No such table, no such column, no index for ON CONFLICT, no grant or a policy, a column without a value.
  '42P01': 'setup',
  '42703': 'setup',
  '42P10': 'setup',
  '42501': 'setup',
  '23502': 'setup',
  // A syntax error; no parameter of this number; no such function.
  '42601': 'statement',
  '42P02': 'statement',
  '42883': 'statement',
};

/** The codes after which the server hangs up. */
const fatalCodes = ['25P03', '25P04', '57P05'];

/** Meanings after which a connection is not used again: its server may be another one by now, or it is in a transaction. */
const uselessAfter: readonly Meaning[] = [
  'unknown',
  'transient',
  'closed',
  'refused',
  'open transaction',
  'program',
];

/** @param names the columns that each create fills: a null in one of them is the fault of its plant */
export function explain(error: unknown, wasSent: boolean, names: readonly string[]): Explanation {
  const said = serverErrorIn(error);
  const isOfPlant = said?.sqlState === '23502' && names.includes(String(said.column));
  const meaning = isOfPlant ? 'rejected' : said ? meaningOf(said, wasSent) : meaningOfDriver(error, wasSent);
  const isFatal = said !== undefined && fatalCodes.includes(said.sqlState);
  return { meaning, isReusable: !isFatal && !uselessAfter.includes(meaning) };
}

function meaningOf({ sqlState, isOfFunction }: ServerError, wasSent: boolean): Meaning {
  // The role may not connect to the database.
  if (sqlState === '42501' && !wasSent) return 'refused';
  const meaning = meanings[sqlState] ?? (isOfFunction ? undefined : meaningsOfStatement[sqlState]);
  if (meaning) return meaning;
  const ofClass = classMeanings[sqlState.slice(0, 2)];
  // A function that fails on a connection or a file of its own fails for its plant: the server rolled back the statement.
  if (isOfFunction && ofClass === 'unknown' && !sqlState.startsWith('57')) return 'rejected';
  if (ofClass === 'unknown' && !wasSent) return 'transient';
  // The server says that it rolled back: a constraint, a limit, a policy, a trigger with a code of its own.
  return ofClass ?? 'rejected';
}

/** What an error means that is not the server's, but the driver's, a library's or the system's. */
function meaningOfDriver(error: unknown, wasSent: boolean): Meaning {
  // Nobody listens: nothing can have been sent. Also on a driver that connects when it is first used.
  if (firstIn(error, ({ code }) => (code === 'ECONNREFUSED' ? code : undefined))) return 'transient';
  if (wasSent) return 'unknown';
  return isFaultOfProgram(error) ? 'program' : 'transient';
}
