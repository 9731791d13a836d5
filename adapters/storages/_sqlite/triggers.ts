import { LostRow } from '../_shared/rows.js';
import type { TableSpec } from '../_shared/table.js';
import type { SqliteConnection } from './connection.js';

/** The names of the triggers of tables of this name, in each file of the connection, and of those that it alone has. */
export function triggersOf(connection: SqliteConnection, { table }: TableSpec): string[] {
  const files = connection.query('SELECT name FROM pragma_database_list').map(({ name }) => String(name));
  // A list of files has TEMP once it has something.
  const masters = [...files.filter((name) => name !== 'temp').map(masterOf), 'sqlite_temp_master'];
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

/** Returns the error of a plant that is not stored after its INSERT. */
export function lostPlant(connection: SqliteConnection, spec: TableSpec): LostRow {
  const names = triggersOf(connection, spec).join(', ');
  const why = names
    ? `one of its triggers drops it or changes its id: ${names}`
    : 'one of its constraints is ON CONFLICT IGNORE';
  return new LostRow(`the table ${spec.name} does not have the plant after its INSERT: ${why}`);
}
