import { missingIndex, unfilledColumn } from '../_shared/rejection.js';
import { LostRow } from '../_shared/rows.js';
import type { TableSpec } from '../_shared/table.js';
import type { SqliteConnection } from './connection.js';
import { resultOf } from './errors.js';

/** Returns what is wrong with a table that has all columns, after an error of an INSERT, and what to do, in a sentence. */
export function remedyOf(connection: SqliteConnection, spec: TableSpec, error: unknown): string {
  if (resultOf(error) !== 'SQLITE_ERROR') return unfilledColumn(undefined);
  if (hasView(connection, spec)) return isView;
  return missingIndex(spec);
}

/** What is wrong with a file that cannot be used. */
export const noFile = 'SQLite cannot use its file. Open a database file that may be written';

/** What is wrong with a view. */
export const isView = 'it is a view, in which SQLite keeps no id unique. Pass the name of its table';

/** What is wrong with a database that changes U+FFFE and U+FFFF. */
export const wrongEncoding = (encoding: unknown) =>
  `its database is in ${encoding}. Copy it to one that is in UTF-8, the default`;

/** Whether the name is that of a view. */
function hasView(connection: SqliteConnection, { table }: TableSpec): boolean {
  const found = connection.query(
    "SELECT type FROM pragma_table_list WHERE name = ? COLLATE NOCASE AND type = 'view'",
    table,
  );
  return found.length > 0;
}

/** The names of the triggers of tables of this name, in each file of the connection, and of those that it alone has. */
export function triggersOf(connection: SqliteConnection, { table }: TableSpec): string[] {
  const files = connection.query('SELECT name FROM pragma_database_list').map(({ name }) => String(name));
  // The list has TEMP once it has something.
  const masters = [...new Set([...files, 'temp'])].map(masterOf);
  return masters
    .flatMap((master) =>
      connection.query(
        `SELECT name FROM ${master} WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE`,
        table,
      ),
    )
    .map(({ name }) => String(name));
}

const masterOf = (file: string) => `"${file.replaceAll('"', '""')}".sqlite_master`;

/**
 * Returns the error of a plant that is not stored after its INSERT.
 *
 * @param triggers the names of those that the table has
 */
export function lostPlant(spec: TableSpec, triggers: readonly string[]): LostRow {
  const why = triggers.length
    ? `one of its triggers drops it or changes its id: ${triggers.join(', ')}`
    : 'one of its constraints is ON CONFLICT IGNORE';
  return new LostRow(`the table ${spec.name} does not have the plant after its INSERT: ${why}`);
}
