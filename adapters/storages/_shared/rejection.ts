import { ownWords } from '../../../src/for-storages.js';
import { RolledBack, StorageBusy } from '../../../src/index.js';
import type { TableSpec } from './table.js';

/** The database, or a look at its table, rejected the rows: nothing was stored, and the connection is as before. */
export class Rejection extends RolledBack {}

/** The cause of the rejection of every create, until somebody does what it says. */
export class SetupError extends Error {
  override readonly name = 'SetupError';

  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    ownWords(this);
  }
}

/**
 * Returns the error of every create until somebody does what it says.
 *
 * @param why in words of plant-store, and names of the database; what somebody else says is the cause
 */
export function unusable(spec: TableSpec, why: string, cause?: unknown): Rejection {
  return new Rejection(
    'rejected',
    new SetupError(`plant-store cannot use the table ${spec.name}: ${why}`, { cause }),
  );
}

/**
 * Returns the error of a call that stores no plant, such as `check`: the database's own, or the sentence of a setup error, without the
 * `RolledBack` (of which `Rejection` is one) that says what becomes of a plant.
 */
export const reasonOf = (error: unknown): unknown => (error instanceof RolledBack ? error.cause : error);

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

/** What is wrong if two namespaces cannot have the same id. */
export const narrowIndex = ({ key }: TableSpec) =>
  `one of its unique indexes lets one namespace alone have an id: drop it, and keep PRIMARY KEY (${key.join(', ')})`;

/** What is wrong with a column of the app that every create leaves without a value. */
export function unfilledColumn(column: unknown): string {
  const [named, option] =
    typeof column === 'string' ? [`its column ${column}`, column] : ['one of its columns', '...'];
  return `${named} takes no null and has no default: every create leaves it empty. Give it a default, or its value by the option columns: { ${option}: () => ... }`;
}

/** What to do about a database that is not there. */
const remedies = {
  createTable:
    'If this is a build, run a migration before the deployment instead: npx plant-store schema prints the SQL',
  check: 'Check the settings of the pool, and whether the database runs',
};

/** A call of an app that starts. */
export type SetUpCall = keyof typeof remedies;

/** Returns what a call of an app that starts throws after an error. */
export function failureOfSetUp(
  call: SetUpCall,
  spec: TableSpec,
  error: unknown,
  isConnected: boolean,
): unknown {
  const reason = reasonOf(error);
  const isLocked = error instanceof RolledBack && error.reason === 'locked';
  if (isConnected) return isLocked ? lockedTable(call, spec, reason) : reason;
  return unconnected(call, reason instanceof StorageBusy ? (reason.cause ?? reason) : reason);
}

/** What an error says: the AggregateError of a refused connection has a code and no message. */
export function wordsOf(error: unknown): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return String(message || code || error);
}

/** Returns the error of an app's call that no statement was sent for. It keeps the code, by which an app may wait for its database. */
function unconnected(call: SetUpCall, cause: unknown): Error {
  const { code } = Object(cause) as { code?: unknown };
  const error = new Error(
    `${call}() got no connection to the database: ${wordsOf(cause)}. ${remedies[call]}`,
    {
      cause,
    },
  );
  return code === undefined ? error : Object.assign(error, { code });
}

/** Returns the error of an app's call that has met a lock. */
function lockedTable(call: SetUpCall, { name }: TableSpec, cause: unknown): Error {
  return ownWords(
    new Error(`${call}() found the table ${name} locked by another transaction. Try again`, { cause }),
  );
}
