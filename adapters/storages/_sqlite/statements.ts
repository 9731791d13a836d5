import type { Rows, Value } from '../_shared/rows.js';
import type { Dialect, TableSpec } from '../_shared/table.js';

// By the affinity of a type, in SQLite's own order: REAL rounds ids, and what is no text changes names such as `007`.
const texts = /^(?!.*INT)(.*(CHAR|CLOB|TEXT|BLOB)|$)/i;
const ids = /INT|CHAR|CLOB|TEXT|BLOB|^(?!.*(REAL|FLOA|DOUB))/i;
const keys = /INT|CHAR|CLOB|TEXT|BLOB|^$/i;
export const dialect: Dialect = {
  mark: '"',
  types: { id: 'INTEGER', name: 'TEXT', tag: 'TEXT' },
  exact: { id: ids, name: texts, tag: texts, namespace: keys },
  text: 'TEXT',
};

/** One statement and one JSON text per batch, because a call into SQLite costs more than an insert. */
export function statementsOf({ name, columns, key, found }: TableSpec) {
  // A value with the affinity of the cast would be compared by that, and use no index of a column of text: `+` ends it.
  const values = columns.map((_, i) => {
    const value = `json_extract(new.value, '$[${i}]')`;
    return i === key.length - 1 ? `+CAST(${value} AS INTEGER)` : value;
  });
  const keyOf = (row: string) => key.map((column) => `quote(${row}${column})`).join(` || ',' || `);
  const same = key.map((column, i) => `plant.${column} = ${values[i]}`).join(' AND ');
  const rows = `json_each(?) AS new JOIN ${name} AS plant ON ${same}`;
  const into = `INSERT INTO ${name} (${columns.map(({ quoted }) => quoted).join(', ')})`;
  const ending = `ON CONFLICT (${key.join(', ')}) DO NOTHING`;
  return {
    insert: `${into} SELECT ${values.join(', ')} FROM json_each(?) AS new WHERE true ${ending} RETURNING ${keyOf('')} AS key`,
    /** For one plant, in a table without columns of the app, whose numbers each driver binds in its own way. */
    insertOne: `${into} VALUES (CAST(? AS INTEGER)${', ?'.repeat(columns.length - 1)}) ${ending}`,
    /** How many of the rows are stored: a trigger may have moved one that RETURNING has returned. */
    storedCount: `SELECT count(*) AS count FROM ${rows}`,
    /** Fails unless each of the rows, given twice, is stored once: no text is as long as that. */
    guard: `SELECT CASE WHEN count <> json_array_length(?) THEN zeroblob(9007199254740991 + count) END AS guard FROM (SELECT count(*) AS count FROM ${rows})`,
    stored: `SELECT new.key AS n, ${keyOf('plant.')} AS key FROM ${rows}`,
    find: `SELECT ${found} FROM ${rows}`,
  };
}

/** Rows as one parameter. Not by a replacer: `JSON.stringify` would call an app's `BigInt.prototype.toJSON` before it. */
export const jsonOf = (rows: Rows): string => JSON.stringify(rows.map((row) => row.map(sentTo)));

/** JSON has no bigint: a number where that is exact, because a column without a type would keep a text. */
function sentTo(value: Value): Value {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
