/** The most statements that a connection keeps prepared, of all storages together. */
const maxPrepared = 32;

const prepared = new WeakMap<object, Set<string>>();

/**
 * Whether a connection keeps this statement prepared: the first ones that it runs, so that a storage for each of many
 * tenants fills no server with statements.
 */
export function keepsPrepared(connection: object, statement: string): boolean {
  let kept = prepared.get(connection);
  if (!kept) {
    kept = new Set();
    prepared.set(connection, kept);
  }
  if (kept.size < maxPrepared) kept.add(statement);
  return kept.has(statement);
}
