import { ownWords } from '../../../src/for-storages.js';
import {
  createIndex,
  hasIndexOf,
  missingIndex,
  narrowIndexOf,
  unfilledColumn,
} from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import type { SqliteConnection } from './connection.js';

/** Returns what is wrong with a table that has all columns, and what to do, in a sentence. */
export function faultOfTable(connection: SqliteConnection, spec: TableSpec): string | undefined {
  const [{ type } = {}] = connection.query(
    "SELECT type FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')",
    spec.table,
  );
  if (type === 'view') return 'it is a view, in which SQLite keeps no id unique. Pass the name of its table';
  return faultOfIndexes(connection, spec) ?? unfilledOf(connection, spec);
}

function faultOfIndexes(connection: SqliteConnection, spec: TableSpec): string | undefined {
  const indexes = uniqueIndexesOf(connection, spec);
  const narrow = narrowIndexOf(indexes, spec.keyNames);
  if (narrow) {
    const why = `its primary key or unique index of (${narrow.join(', ')}) lets one namespace alone have an id`;
    return `${why}. SQLite cannot change it: copy the rows to a table that schemaOf describes`;
  }
  return hasIndexOf(indexes, spec.keyNames) ? undefined : `${missingIndex(spec)}. ${createIndex(spec)}`;
}

/** The columns of each unique index, and of the primary key: one of an integer has no index. */
function uniqueIndexesOf(connection: SqliteConnection, { table }: TableSpec): string[][] {
  const primary = connection.query('SELECT name FROM pragma_table_info(?) WHERE pk > 0', table);
  const parts = connection.query(
    `SELECT list.name AS "index", info.name FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info
      WHERE list."unique" AND NOT list.partial`,
    table,
  );
  const indexes = [...new Set(parts.map(({ index }) => index))].map((index) =>
    parts.filter((part) => part.index === index),
  );
  return [primary, ...indexes]
    .filter((columns) => columns.length > 0)
    .map((columns) => columns.map(({ name }) => String(name)));
}

/** What is wrong if every create leaves a column without a value. SQLite has no trigger that fills one. */
function unfilledOf(connection: SqliteConnection, spec: TableSpec): string | undefined {
  const columns = connection.query(
    `SELECT name FROM pragma_table_info(?) WHERE "notnull" AND dflt_value IS NULL
      AND NOT (pk = 1 AND type = 'INTEGER' COLLATE NOCASE)`,
    spec.table,
  );
  const own = spec.names.map((name) => name.toLowerCase());
  const unfilled = columns.find(({ name }) => !own.includes(String(name).toLowerCase()));
  return unfilled && unfilledColumn(String(unfilled.name));
}

/** The names of a table's triggers, also of those that this connection alone has. */
export function triggersOf(connection: SqliteConnection, { table }: TableSpec): string[] {
  const all = '(SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)';
  const triggers = connection.query(
    `SELECT name FROM ${all} WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE`,
    table,
  );
  return triggers.map(({ name }) => String(name));
}

/** Returns the error of a plant that is not stored after its INSERT. */
export function lostPlant(connection: SqliteConnection, spec: TableSpec): Error {
  const names = triggersOf(connection, spec).join(', ');
  const why = names
    ? `one of its triggers drops it or changes its id: ${names}`
    : 'one of its constraints is ON CONFLICT IGNORE';
  return ownWords(new Error(`the table ${spec.name} does not have the plant after its INSERT: ${why}`));
}
