import type { Explanation, Meaning } from './_server.js';

type Meanings = readonly (readonly [RegExp, Meaning])[];

/** Of an error before anything was sent, by its code and message; the first that matches. */
const unsent: Meanings = [
  [/^(28|3D000)/, 'login'],
  [/^42501|after calling end on the pool/, 'permanent'],
  [/^/, 'transient'],
];

/** Of other errors. */
const sent: Meanings = [
  // Serialization failure, deadlock, read-only standby, no resources, server starting, nobody there.
  [/^(40001|40P01|25006|53|57P03|ECONNREFUSED)/, 'transient'],
  // PgBouncer had no server to send the statement to; or `pg` had no connection.
  [/^08P01 .*(server login has been failing|query_wait_timeout)|is not queryable$/, 'transient'],
  [/^55P03/, 'locked'],
  // Cancelled by `statement_timeout` or by an administrator: the server says that it rolled back.
  [/^57014/, 'expired'],
  // Connection dropped, outcome unknown, shut down, input/output failed, an internal error.
  [/^(08|40003|57|58|XX)/, 'unknown'],
];

/** Of the statement of plant-store, not of a trigger. */
const faults: Record<string, Meaning> = { '42P01': 'no table', '42703': 'no column', '42P10': 'not unique' };

/** The connection came with a transaction that had failed. */
export const inFailedTransaction = '25P02';

export function explain(error: unknown, wasSent: boolean): Explanation {
  const meaning = meaningOf(Object(error), wasSent);
  return [meaning, !/unknown|transient|permanent|login/.test(meaning)];
}

function meaningOf(
  { code, message, routine, syscall, where }: Record<string, unknown>,
  wasSent: boolean,
): Meaning {
  // `where`: raised in a function of the database, such as a trigger, and so the fault of one plant; and a policy of
  // row-level security has the code of a missing grant.
  if (code === '42501' && !where && /^aclcheck/.test(String(routine))) return 'denied';
  const [, meaning] = (wasSent ? sent : unsent).find(([pattern]) => pattern.test(`${code} ${message}`)) ?? [];
  if (meaning) return meaning;
  // The server says that it rolled back: a constraint, a limit, a policy, a trigger with a code of its own.
  if (syscall !== undefined || !/^[0-9A-Z]{5}$/.test(String(code))) return 'unknown';
  return (!where && faults[String(code)]) || 'rejected';
}
