import type { Meaning } from './_server.js';
import type { Fault } from './_table.js';

/** Wrong user, password or database. */
const permanent = /^(28|3D|42501)/;

/** Serialization failure, deadlock, read-only standby, no resources, server starting. */
const transient = /^(40001|40P01|25006|53|57P03)/;

/** The app has ended its pool. */
const hasEnded = /after calling end on the pool/;

const lockTimeout = '55P03';

/** Cancelled by `statement_timeout` or by an administrator: the server says that it rolled back. */
const cancelled = '57014';

/** Connection dropped, outcome unknown, shut down, input/output failed, an internal error. */
const unknown = /^(08|40003|57|58|XX)/;

/** The connection came with a transaction that had failed. */
export const inFailedTransaction = '25P02';

export function meaningOf(error: unknown, isSent: boolean): Meaning {
  const { code, syscall, message } = error as Record<string, unknown>;
  const state = String(code);
  if (!isSent) return permanent.test(state) || hasEnded.test(String(message)) ? 'permanent' : 'transient';
  if (transient.test(state) || state === 'ECONNREFUSED') return 'transient';
  if (state === lockTimeout) return 'locked';
  if (state === cancelled) return 'expired';
  // PgBouncer had no server to send the statement to; or `pg` had no connection.
  const wasUnsent =
    state === '08P01' ? /server login has been failing|query_wait_timeout/ : /is not queryable$/;
  if (wasUnsent.test(String(message))) return 'transient';
  const isSqlState = /^[0-9A-Z]{5}$/.test(state) && syscall === undefined;
  // The server says that it rolled back: a constraint, a limit, a policy, a trigger with a code of its own.
  return isSqlState && !unknown.test(state) ? 'rejected' : 'unknown';
}

/** No such table, no such index. */
const faults: Record<string, Fault> = { '42P01': 'missing', '42P10': 'not unique' };

/** A login or a database that the server refuses for good. */
const logins = /^(28|3D000)/;

export function faultOf(error: unknown): Fault | 'login' | undefined {
  const { code, routine } = Object(error) as Record<string, unknown>;
  const state = String(code);
  // A policy of row-level security has the code of a missing grant, and rejects one plant alone.
  if (state === '42501') return /^aclcheck/.test(String(routine)) ? 'denied' : undefined;
  return logins.test(state) ? 'login' : faults[state];
}
