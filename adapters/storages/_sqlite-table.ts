import type { Column } from './_columns.js';
import { type Rows, textOf, type Value } from './_rows.js';
import type { Dialect, Table } from './_table.js';

export const dialect: Dialect = {
  mark: '"',
  types: { id: 'INTEGER PRIMARY KEY', name: 'TEXT NOT NULL', tag: 'TEXT' },
  text: 'TEXT',
};

/** By the affinity of its type, in SQLite's own order: REAL rounds ids, and what is no text changes names such as `007`. */
export function columnOf({ name, type }: { readonly name: string; readonly type: string }): Column {
  const isInteger = /INT/i.test(type);
  const isText = !isInteger && /CHAR|CLOB|TEXT|BLOB|^$/i.test(type);
  const isReal = !isInteger && !isText && /REAL|FLOA|DOUB/i.test(type);
  return { name, type, isExact: name.toLowerCase() === 'id' ? !isReal : isText };
}

/** One statement and one JSON text per batch, because a call into SQLite costs more than an insert. */
export function sqlOf({ name, columns, key, found }: Table) {
  // A value with the affinity of the cast would be compared by that, and use no index of a column of text: `+` ends it.
  const values = columns.map((_, i) => {
    const value = `json_extract(new.value, '$[${i}]')`;
    return i === key.length - 1 ? `+CAST(${value} AS INTEGER)` : value;
  });
  const keyOf = (row: string) =>
    key.length > 1
      ? key.map((column) => `quote(${row}${column})`).join(` || ',' || `)
      : `CAST(${row}${key} AS TEXT)`;
  const same = key.map((column, i) => `plant.${column} = ${values[i]}`).join(' AND ');
  const rows = `json_each(?) AS new JOIN ${name} AS plant ON ${same}`;
  const into = `INSERT INTO ${name} (${columns.join(', ')})`;
  const onConflict = `ON CONFLICT (${key.join(', ')}) DO NOTHING`;
  const insert = `${into} SELECT ${values.join(', ')} FROM json_each(?) AS new WHERE true ${onConflict}`;
  const bound = columns.map((_, i) => (i === key.length - 1 ? 'CAST(? AS INTEGER)' : '?'));
  return {
    insert,
    insertOne: `${into} VALUES (${bound.join(', ')}) ${onConflict}`,
    insertReturning: `${insert} RETURNING ${keyOf('')} AS key`,
    stored: `SELECT new.key AS n, ${keyOf('plant.')} AS key FROM ${rows}`,
    find: `SELECT ${found} FROM ${rows}`,
  };
}

/** A lone row as texts, for `insertOne`, which is faster than JSON. Other values are bound differently by each driver. */
export function textsOf([row, ...others]: Rows, { key }: Table): (string | null)[] | undefined {
  const isText = (value: Value, i: number) => typeof (value ?? '') === 'string' || i === key.length - 1;
  return others.length === 0 && row!.every(isText) ? row!.map(textOf) : undefined;
}

export function jsonOf(rows: Rows): string {
  return JSON.stringify(rows.map((row) => row.map(sent)));
}

/** A number where it is exact, because a column without a type does not make one of a text. */
function sent(value: Value): Value {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
