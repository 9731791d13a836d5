import { missingIndex, unfilledColumn } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import type { SqliteConnection } from './connection.js';
import { resultOf } from './errors.js';

/** Returns what is wrong with a table that has all columns, after an error of an INSERT, and what to do, in a sentence. */
export function remedyOf(connection: SqliteConnection, spec: TableSpec, error: unknown): string {
  if (resultOf(error) !== 'SQLITE_ERROR') return unfilledColumn(undefined);
  if (isView(connection, spec))
    return 'it is a view, in which SQLite keeps no id unique. Pass the name of its table';
  return missingIndex(spec);
}

/** Whether the name is that of a view. */
function isView(connection: SqliteConnection, { table }: TableSpec): boolean {
  const found = connection.query(
    "SELECT type FROM pragma_table_list WHERE name = ? COLLATE NOCASE AND type = 'view'",
    table,
  );
  return found.length > 0;
}
