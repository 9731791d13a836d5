import type { Meaning } from '../_shared/meaning.js';
import { firstIn, messageOf } from '../_shared/wrapped-error.js';
import { WrongResult } from '../_shared/wrong-handle.js';

/** SQLite's primary result codes, by name and by number. */
const results = {
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_READONLY: 8,
  SQLITE_CORRUPT: 11,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_CONSTRAINT: 19,
  SQLITE_NOTADB: 26,
} as const;

type Result = keyof typeof results;

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

/** Assumed of SQLite: the texts of errors whose result, SQLITE_ERROR, says no more. */
const texts = {
  missing: /no such table|no such column|has no column|ON CONFLICT clause/,
  unfilled: /NOT NULL constraint failed/,
  syntax: /syntax error/,
  openTransaction: /within a transaction/,
};

/** What an error of the INSERT, of `find` or of a look at the table means. Nothing is stored before COMMIT. */
export function meaningOfInsert(error: unknown): Meaning {
  const result = resultOf(error);
  // Another connection holds the lock, of the file or of a table in a shared cache; or the disk is full.
  if (result === 'SQLITE_BUSY' || result === 'SQLITE_LOCKED' || result === 'SQLITE_FULL') return 'transient';
  // Not of a function of the app, which a trigger may call.
  if (error instanceof WrongResult) return 'program';
  const message = messageOf(error);
  if (texts.missing.test(message) || texts.unfilled.test(message)) return 'setup';
  return texts.syntax.test(message) ? 'statement' : 'rejected';
}

/** What an error of BEGIN means: nothing was sent. */
export function meaningOfBegin(error: unknown, isClosed: boolean): Meaning {
  if (isClosed) return 'closed';
  const message = messageOf(error);
  if (texts.openTransaction.test(message)) return 'open transaction';
  // Assumed of better-sqlite3: so it reports that the app is iterating over rows.
  if (message.includes('busy executing a query')) return 'transient';
  switch (resultOf(error)) {
    case 'SQLITE_READONLY':
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_CORRUPT':
    case 'SQLITE_NOTADB':
      return 'refused';
    case undefined:
      return 'program';
    default:
      return 'transient';
  }
}

/**
 * What an error of COMMIT means.
 *
 * @param isRolledBack whether the transaction was still open, and was rolled back after it
 */
export function meaningOfCommit(error: unknown, isRolledBack: boolean): Meaning {
  if (!isRolledBack) return 'unknown';
  switch (resultOf(error)) {
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
    case 'SQLITE_FULL':
      return 'transient';
    // A deferred constraint.
    case 'SQLITE_CONSTRAINT':
      return 'rejected';
    default:
      return 'unknown';
  }
}
