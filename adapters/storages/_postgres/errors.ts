import { type Explanation, type Meanings, meaningIn } from '../_shared/server-table.js';

/** By code, origin, routine of the server and message; `unsent` is in front if no plant was sent. */
const meanings: Meanings = [
  // The connection came with a transaction that had failed.
  [/^(unsent )?25P02/, 'open transaction'],
  [/^unsent (28|3D000)/, 'login'],
  // A policy of row-level security has the code of a missing grant.
  [/^(unsent )?42501 own aclcheck/, 'denied'],
  [/^unsent (42501|.*after calling end on the pool)/, 'permanent'],
  // Serialization failure, deadlock, read-only standby, no resources, server starting, nobody there.
  [/^(unsent|40001|40P01|25006|53|57P03|ECONNREFUSED)/, 'transient'],
  // PgBouncer had no server to send the statement to; or `pg` had no connection.
  [/^08P01 .*(server login has been failing|query_wait_timeout)|is not queryable$/, 'transient'],
  [/^55P03/, 'locked'],
  // Cancelled by `statement_timeout` or by an administrator: the server says that it rolled back.
  [/^57014/, 'expired'],
  // Connection dropped, outcome unknown, shut down, input/output failed, an internal error.
  [/^(08|40003|57|58|XX)/, 'unknown'],
  [/^(42P01|42703) own/, 'missing'],
  [/^42P10 own/, 'unindexed'],
  // The server says that it rolled back: a constraint, a limit, a policy, a trigger with a code of its own.
  [/^[0-9A-Z]{5} (own|inner)/, 'rejected'],
];

export function explain(error: unknown, wasSent: boolean): Explanation {
  const { code, message, routine, syscall, where } = Object(error);
  // `where`: raised in a function of the database, such as a trigger, and so the fault of one plant.
  const origin = syscall ? 'system' : where ? 'inner' : 'own';
  const meaning = meaningIn(meanings, `${wasSent ? '' : 'unsent '}${code} ${origin} ${routine} ${message}`);
  return [meaning, !/unknown|transient|permanent|login|open transaction/.test(meaning)];
}
