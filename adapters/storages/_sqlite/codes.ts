import type { Meaning } from '../_shared/meaning.js';
import { firstIn } from '../_shared/wrapped-error.js';
import { WrongResult } from '../_shared/wrong-handle.js';

/**
 * What a result of SQLite says:
 *
 * - `lock`: another connection holds a lock. It passes by itself.
 * - `room`: the disk or the memory is full or fails. It may pass; at COMMIT, SQLite may have rolled back by itself, or not.
 * - `file`: the file cannot be used by any create.
 * - `plant`: a value is rejected.
 * - `table or plant`: a table, a column or an index is missing, or a statement of a trigger fails for one plant: the table shows which.
 */
type Concern = 'lock' | 'room' | 'file' | 'plant' | 'table or plant';

/** SQLite's results, by name: the number, and what it says. An extended one comes before its primary one. */
const codes = {
  SQLITE_ERROR: [1, 'table or plant'],
  SQLITE_BUSY: [5, 'lock'],
  SQLITE_LOCKED: [6, 'lock'],
  SQLITE_NOMEM: [7, 'room'],
  SQLITE_READONLY: [8, 'file'],
  SQLITE_IOERR: [10, 'room'],
  SQLITE_CORRUPT: [11, 'file'],
  SQLITE_FULL: [13, 'room'],
  SQLITE_CANTOPEN: [14, 'file'],
  SQLITE_TOOBIG: [18, 'plant'],
  SQLITE_CONSTRAINT_NOTNULL: [1299, 'table or plant'],
  SQLITE_CONSTRAINT: [19, 'plant'],
  SQLITE_MISMATCH: [20, 'plant'],
  SQLITE_AUTH: [23, 'plant'],
  SQLITE_NOTADB: [26, 'file'],
} as const satisfies Readonly<Record<string, readonly [number, Concern]>>;

export type ResultCode = keyof typeof codes;

const results = Object.entries(codes) as [ResultCode, (typeof codes)[ResultCode]][];

/**
 * Returns the result in an error, as each driver reports it: `extendedCode` (@libsql/client) or `code` is its name, or an extended one
 * that begins with it (`SQLITE_BUSY_SNAPSHOT`), or `errcode` is its number, or an extended one whose lowest byte is it (node:sqlite), or
 * `errno` (bun:sqlite).
 */
export function resultOf(error: unknown): ResultCode | undefined {
  return firstIn(error, ({ extendedCode, code, errcode, errno }) => {
    const is = (name: string, number: number) =>
      [extendedCode, code].some((given) => `${given}_`.startsWith(`${name}_`)) ||
      [Number(errcode), Number(errcode) & 0xff].includes(number) ||
      (String(code).startsWith('SQLITE_') && errno === number);
    return results.find(([name, [number]]) => is(name, number))?.[0];
  });
}

/** Returns the result that a server answers with: libSQL's own calls one of these SQLITE_UNKNOWN that is SQLITE_ERROR here. */
export function resultOfServer(error: unknown): ResultCode | undefined {
  const isAnswer = firstIn(error, ({ code }) => (String(code).startsWith('SQLITE_') ? true : undefined));
  return resultOf(error) ?? (isAnswer ? 'SQLITE_ERROR' : undefined);
}

/**
 * Returns the result in an error of D1 or of a Durable Object, which have no member for it: they write it behind SQLite's message, as
 * `: SQLITE_CONSTRAINT` or `: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)`. D1 begins its answers with `D1_ERROR`; without
 * that, the error is of another query, after a reset, and the outcome is unknown.
 */
export function resultOfWorkers(prefix: string): typeof resultOf {
  const answer = new RegExp(`^${prefix}.*: (SQLITE_[A-Z]+)( \\(extended: (\\w+)\\))?$`, 's');
  return (error) => {
    // The one text of another that is read here.
    const [, code, , extendedCode] = answer.exec(String(Object(error).message)) ?? [];
    return resultOfServer({ code, extendedCode });
  };
}

/**
 * Where a transaction failed. `message`: it is far away, and all of it was in one message. `commit`: its COMMIT failed, or an error that
 * may be another's came for it, and whether it is stored must be asked; if it is not, it failed in a `statement`.
 */
export type Step = 'begin' | 'statement' | 'commit' | 'message';

/** What a meaning needs to know of a handle. */
export interface Answers {
  resultOf(error: unknown): ResultCode | undefined;
  /** Whether the app has closed it. */
  readonly isClosed: boolean;
  /** Whether the app has a transaction open on it, if its errors do not say so. */
  readonly isInTransaction?: boolean;
}

/** Beside those of all databases: what is found out by asking SQLite. */
export type SqliteMeaning = Exclude<Meaning, 'setup'> | 'file' | 'table or plant' | 'doubt';

/** Returns what an error of this step means: the one place that decides it. */
export function meaningOf(error: unknown, step: Step, handle: Answers): SqliteMeaning {
  if (error instanceof WrongResult) return 'program';
  const result = handle.resultOf(error);
  const concern: Concern | undefined = result && codes[result][1];
  if (step === 'commit' || (step === 'message' && concern === 'room')) return 'doubt';
  if (step === 'message' && !concern) return meaningOfMessage(error);
  if (handle.isClosed && (step === 'begin' || !concern)) return 'closed';
  if (concern === 'file') return 'file';
  if (concern === 'lock' || concern === 'room') return 'conflict';
  if (step === 'statement' || step === 'message') return concern === 'plant' ? 'rejected' : 'table or plant';
  // BEGIN has no other error than an open transaction. Nothing is asked of a handle after a fault of a program: it may be closed, and a
  // getter of libsql/promise then ends the process.
  const isOpen = concern
    ? concern === 'table or plant'
    : !(error instanceof TypeError) && handle.isInTransaction;
  return isOpen ? 'open transaction' : 'conflict';
}

/** What an error without a result means of a message. */
function meaningOfMessage(error: unknown): SqliteMeaning {
  const isRefused = firstIn(error, ({ status }) => (status === 401 || status === 403 ? true : undefined));
  if (isRefused) return 'no login';
  const wasNeverSent = firstIn(error, ({ code }) => (unreachable.includes(String(code)) ? true : undefined));
  return wasNeverSent ? 'conflict' : 'unknown';
}

/** The system's codes of what could carry no message. */
const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

/** Whether an error of this step passes as soon as another connection, or the app, ends what it does. */
export function isLock(error: unknown, step: Step, { resultOf }: Answers): boolean {
  const result = resultOf(error);
  return result ? codes[result][1] === 'lock' : step === 'begin';
}
