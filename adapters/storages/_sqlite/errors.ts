import type { Meaning } from '../_shared/meaning.js';
import { firstIn } from '../_shared/wrapped-error.js';
import { WrongResult } from '../_shared/wrong-handle.js';

/** SQLite's primary result codes, by name and by number. */
const results = {
  SQLITE_ERROR: 1,
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_NOMEM: 7,
  SQLITE_READONLY: 8,
  SQLITE_IOERR: 10,
  SQLITE_CORRUPT: 11,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_TOOBIG: 18,
  SQLITE_CONSTRAINT: 19,
  SQLITE_MISMATCH: 20,
  SQLITE_AUTH: 23,
  SQLITE_NOTADB: 26,
} as const;

export type Result = keyof typeof results;

/**
 * Returns the result in an error, as each driver reports it: `code` is its name, or an extended one that begins with it
 * (`SQLITE_BUSY_SNAPSHOT`), or `errcode` is its number, or an extended one whose lowest byte is it (node:sqlite).
 */
export function resultOf(error: unknown): Result | undefined {
  return firstIn(error, ({ code, errcode }) => {
    const names = Object.keys(results) as Result[];
    return names.find(
      (name) => `${String(code)}_`.startsWith(`${name}_`) || (Number(errcode) & 0xff) === results[name],
    );
  });
}

/** Returns the result that a server answers with: libSQL's own calls one of these SQLITE_UNKNOWN that is SQLITE_ERROR here. */
export function resultOfServer(error: unknown): Result | undefined {
  const isAnswer = firstIn(error, ({ code }) => (String(code).startsWith('SQLITE_') ? true : undefined));
  return resultOf(error) ?? (isAnswer ? 'SQLITE_ERROR' : undefined);
}

/**
 * Returns the result in an error of D1 or of a Durable Object, which have no member for it: they write it behind SQLite's message, as
 * `: SQLITE_CONSTRAINT` or `: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)`. Nothing else tells whether SQLite has answered.
 */
export function resultOfWorkers(error: unknown): Result | undefined {
  const [, code] = /: (SQLITE_[A-Z]+)( \(extended: \w+\))?$/.exec(String(Object(error).message)) ?? [];
  return resultOfServer({ code });
}

/** A column that takes no null got none: an extended result of SQLITE_CONSTRAINT. */
function isNotNull(error: unknown): boolean {
  const found = firstIn(error, ({ code, errcode, errno }) =>
    code === 'SQLITE_CONSTRAINT_NOTNULL' || [errcode, errno].includes(1299) ? true : undefined,
  );
  return found === true;
}

/** The results that may be others when the statement is tried again: a lock, a full disk, memory. */
const passing: readonly (Result | undefined)[] = [
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_NOMEM',
];

/** What a result means of a transaction that was not committed. */
export function meaningOfAnswer(result: Result): Meaning {
  if (passing.includes(result)) return 'conflict';
  if (isOfFile(result)) return 'setup';
  return result === 'SQLITE_ERROR' ? 'setup, or of a plant' : 'rejected';
}

/** Whether a result is about the file, and so of every create. */
export const isOfFile = (result: Result | undefined) =>
  ['SQLITE_READONLY', 'SQLITE_CANTOPEN', 'SQLITE_CORRUPT', 'SQLITE_NOTADB'].includes(String(result));

/** What an error of the INSERT, of `find` or of a look at the table means. Nothing is stored before COMMIT. */
export function meaningOfInsert(error: unknown): Meaning {
  if (error instanceof WrongResult) return 'program';
  const result = resultOf(error);
  if (passing.includes(result)) return 'conflict';
  // A table, a column or an index that is missing, a syntax error: or a function of the app, which a trigger may call.
  return result === 'SQLITE_ERROR' || isNotNull(error) ? 'setup, or of a plant' : 'rejected';
}

/**
 * What an error of BEGIN means: nothing was sent.
 *
 * @param hasWorked whether this connection has run a statement before
 */
export function meaningOfBegin(error: unknown, isClosed: boolean, hasWorked: boolean): Meaning {
  if (isClosed) return 'closed';
  const result = resultOf(error);
  // BEGIN has no other: a transaction is open.
  if (result === 'SQLITE_ERROR') return 'open transaction';
  if (isOfFile(result)) return 'no login';
  if (result) return 'conflict';
  // better-sqlite3 throws a TypeError while the app is reading rows.
  return hasWorked && !(error instanceof WrongResult) ? 'conflict' : 'program';
}

/** What an error of COMMIT means after which nothing is stored. */
export function meaningOfCommit(error: unknown): Meaning {
  // A deferred constraint; or what is over sooner or later.
  return resultOf(error) === 'SQLITE_CONSTRAINT' ? 'rejected' : 'conflict';
}
