import { OwnError, ownWords, ownWordsOf } from '../../../src/for-storages.js';
import { RolledBack, StorageBusy } from '../../../src/index.js';
import type { TableSpec } from './table.js';

/** The database, or a look at its table, rejected the rows: nothing was stored, and the connection is as before. */
export class Rejection extends RolledBack {
  /** @param why in words of plant-store; by default, the cause's own, or which table it was */
  constructor(
    reason: RolledBack['reason'],
    cause: unknown,
    readonly why = ownWordsOf(cause),
  ) {
    super(reason, cause);
    if (why === undefined) return;
    this.message = why;
    ownWords(this);
  }
}

/** Unavailable until somebody changes something: a login is refused, or the app has closed the pool. */
export class NeedsChange extends StorageBusy {}

/** The cause of the rejection of every create, until somebody does what it says. */
export class SetupError extends OwnError {
  override readonly name = 'SetupError';
}

/**
 * Returns the error of every create until somebody does what it says.
 *
 * @param why in words of plant-store, and names of the database; what somebody else says is the cause
 */
export function unusable(spec: TableSpec, why: string, cause?: unknown): Rejection {
  return new Rejection('unusable', cannotUse(spec, why, cause));
}

/** What is wrong with a table that is not there. */
export function missingTable({ isPlain, schema }: TableSpec): string {
  const create = isPlain ? `call storage.createTable(), or run: ${schema}` : migrate;
  return `it does not exist. If yours has another name, set the option table; else ${create}`;
}

/** What to do about a table with columns of the app, whose types only the app knows. */
export const migrate = 'write a migration from what schemaOf returns, and edit the types';

/** What is wrong with a table in which no index keeps the key unique. */
export const missingIndex = ({ name, key }: TableSpec) =>
  `it needs a unique index of exactly (${key.join(', ')}). Run: CREATE UNIQUE INDEX plants_key ON ${name} (${key.join(', ')})`;

/** What to do about a view whose key is not to be seen. */
export const passTable =
  'Pass the name of the table; if its columns are called otherwise, give their names by the option names';

/** What is wrong with a column of the app that every create leaves without a value. */
export function unfilledColumn(column: unknown): string {
  const [named, option] =
    typeof column === 'string' ? [`its column ${column}`, column] : ['one of its columns', '...'];
  return `${named} takes no null and has no default: every create leaves it empty. Give it a default, or its value by the option columns: { ${option}: () => ... }`;
}

/** A call of an app that starts. */
export type SetUpCall = 'createTable' | 'check';

/** What to do about a database that is not there. */
const remedies: Record<SetUpCall, string> = {
  createTable:
    'If this is a build, run a migration before the deployment instead: npx plant-store schema prints the SQL',
  check:
    'Check the settings of the pool, and whether the database runs. A build has none; in a Worker, call it in a handler',
};

/**
 * Returns what a call of an app that starts throws after an error: a StorageBusy if it may work when it is called again, as when the
 * database starts or a lock ends, and otherwise an error that says what needs a change.
 */
export function failureOfSetUp(
  call: SetUpCall,
  spec: TableSpec,
  error: unknown,
  isConnected: boolean,
): Error {
  const { reason, cause = error } = error instanceof RolledBack ? error : ({} as Partial<RolledBack>);
  if (reason === 'unusable') return cause as SetupError;
  if (reason === 'rejected') return cannotUse(spec, wordsOf(cause), cause);
  if (reason === 'locked')
    return new StorageBusy(
      `${call}() found the table ${spec.name} locked by another transaction. Try again`,
      { cause },
    );
  const why = error instanceof StorageBusy ? (error.cause ?? error) : cause;
  if (isConnected && error instanceof NeedsChange) return cannotUse(spec, wordsOf(why), why);
  const unconnected = `${call}() got no connection to the database: ${wordsOf(why)}. ${remedies[call]}`;
  if (error instanceof NeedsChange) return new SetupError(unconnected, { cause: why });
  return new StorageBusy(
    isConnected ? `${call}() failed, and may work when it is called again: ${wordsOf(why)}` : unconnected,
    { cause: why },
  );
}

const cannotUse = (spec: TableSpec, why: string, cause?: unknown) =>
  new SetupError(`plant-store cannot use the table ${spec.name}: ${why}`, { cause });

/** What an error says: the AggregateError of a refused connection has a code and no message. */
export function wordsOf(error: unknown): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return String(message || code || error);
}
