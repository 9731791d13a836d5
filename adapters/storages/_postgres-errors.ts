import type { Meaning } from './_sql.js';

/** Wrong user, password or database. */
const permanent = /^(28|3D|42501)/;

/** Serialization failure, deadlock, read-only standby, lock time-out, no resources, server starting. */
const transient = /^(40001|40P01|25006|55P03|53|57P03)/;

/** Connection lost, outcome unknown, cancelled or shut down, input/output failed, an internal error. */
const unknown = /^(08|40003|57|58|XX)/;

export function meaningOf(error: unknown, isConnecting: boolean): Meaning {
  const { code, syscall, message } = error as Record<string, unknown>;
  const state = String(code);
  // Nothing has been sent yet.
  if (isConnecting) return permanent.test(state) ? 'permanent' : 'transient';
  if (transient.test(state) || state === 'ECONNREFUSED') return 'transient';
  // PgBouncer had no server to send the statement to; or `pg` had no connection.
  const wasUnsent =
    state === '08P01' ? /server login has been failing|query_wait_timeout/ : /is not queryable$/;
  if (wasUnsent.test(String(message))) return 'transient';
  const isSqlState = /^[0-9A-Z]{5}$/.test(state) && syscall === undefined;
  // The server says that it rolled back: a constraint, a limit, a policy, a trigger with a code of its own.
  return isSqlState && !unknown.test(state) ? 'rejected' : 'unknown';
}
