import { ownWords } from '../../../src/for-storages.js';
import type { TableSpec } from './table.js';

/** What to do about a database that is not there. */
const remedies = {
  createTable:
    'If this is a build, run a migration before the deployment instead: npx plant-store schema prints the SQL',
  check: 'Check the settings of the pool, and whether the database runs',
};

/** A call of an app that starts. */
export type SetUpCall = keyof typeof remedies;

/** Returns the error of an app's call that no statement was sent for. It keeps the code, by which an app may wait for its database. */
export function unconnected(call: SetUpCall, cause: unknown): Error {
  const { code, message } = Object(cause) as { code?: unknown; message?: unknown };
  // The AggregateError of a refused connection has a code and no message.
  const why = String(message || code || cause);
  const error = new Error(`${call}() got no connection to the database: ${why}. ${remedies[call]}`, {
    cause,
  });
  return code === undefined ? error : Object.assign(error, { code });
}

/** Returns the error of an app's call that has met a lock. */
export function lockedTable(call: SetUpCall, { name }: TableSpec, cause: unknown): Error {
  return ownWords(
    new Error(`${call}() found the table ${name} locked by another transaction. Try again`, { cause }),
  );
}
