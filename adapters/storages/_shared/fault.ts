import { missingTable, Rejection, unusable } from './rejection.js';
import type { TableSpec } from './table.js';
import type { TableServer } from './table-server.js';

/** Looks why each create fails, after an error that says so. */
export async function faultAfter<Connection>(
  error: unknown,
  server: TableServer<Connection>,
  connection: Connection,
  spec: TableSpec,
): Promise<Rejection> {
  const why = await server.look(connection).then(
    (table) => server.remedyOf(error, table) ?? (table ? undefined : missingTable(spec)),
    // It names a column that is missing.
    (found) => (found instanceof Rejection ? found : server.remedyOf(error, undefined)),
  );
  return why instanceof Rejection ? why : unusable(spec, why ?? 'its statements fail', error);
}
