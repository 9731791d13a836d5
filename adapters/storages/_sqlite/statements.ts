import type { Rows, Value } from '../_shared/rows.js';
import type { Dialect, TableSpec } from '../_shared/table.js';
import type { Statement } from './client.js';

// By the affinity of a type (https://www.sqlite.org/datatype3.html#determination_of_column_affinity), in SQLite's own order:
// REAL rounds ids, and what is no text changes names such as `007`.
const texts = /^(?!.*INT)(.*(CHAR|CLOB|TEXT|BLOB)|$)/i;
const ids = /INT|CHAR|CLOB|TEXT|BLOB|^(?!.*(REAL|FLOA|DOUB))/i;
const keys = /INT|CHAR|CLOB|TEXT|BLOB|^$/i;
export const dialect: Dialect = {
  mark: '"',
  types: { id: 'INTEGER', name: 'TEXT', tag: 'TEXT' },
  exact: { id: ids, name: texts, tag: texts, namespace: keys },
  text: 'TEXT',
};

/**
 * Finds the columns of a table, also generated ones (`hidden` 2 and 3), and which of them take no null and have no default. In texts,
 * because clients read integers differently.
 */
export const columnsOfTable = `SELECT name, type, CASE WHEN hidden > 1 THEN 'yes' END AS "isGenerated",
CASE WHEN hidden = 0 AND "notnull" AND dflt_value IS NULL AND NOT pk THEN 'yes' END AS "isUnfilled", pk
FROM pragma_table_xinfo(?)`;

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
  // `key` is quoted: an embedded replica of libSQL returns it in capitals otherwise.
  return {
    insert: `${into} SELECT ${values.join(', ')} FROM json_each(?) AS new WHERE true ${ending} RETURNING ${keyOf('')} AS "key"`,
    /** For one plant, in a table without columns of the app, whose numbers each driver binds in its own way. */
    insertOne: `${into} VALUES (CAST(? AS INTEGER)${', ?'.repeat(columns.length - 1)}) ${ending}`,
    /** Fails unless each of the rows, given twice, is stored once: no text is as long as that. */
    guard: `SELECT CASE WHEN count <> json_array_length(?) THEN zeroblob(9007199254740991 + count) END AS guard FROM (SELECT count(*) AS count FROM ${rows})`,
    stored: `SELECT new.key AS n, ${keyOf('plant.')} AS "key" FROM ${rows}`,
    find: `SELECT ${found} FROM ${rows}`,
  };
}

/** Rows as the parameter of several statements: written once, and not for a statement that is not run. */
export class RowsText {
  #text: string | undefined;

  constructor(readonly rows: Rows) {}

  get text(): string {
    this.#text ??= jsonOf(this.rows);
    return this.#text;
  }
}

/** A statement whose parameters are rows. */
export class RowsStatement implements Statement {
  constructor(
    readonly sql: string,
    readonly rows: RowsText,
    /** How many parameters it has. */
    readonly count = 1,
    /** Whether it asks which of the rows were there, which is known if the first statement has returned all. */
    readonly asksForTaken = false,
  ) {}

  get args(): string[] {
    return Array(this.count).fill(this.rows.text);
  }

  isNeeded([inserted]: readonly (readonly unknown[])[]): boolean {
    return !this.asksForTaken || inserted!.length < this.rows.rows.length;
  }
}

/** Rows as one parameter. */
const jsonOf = (rows: Rows): string => `[${rows.map((row) => `[${row.map(jsonOfValue).join()}]`).join()}]`;

/**
 * A bigint is a number, which SQLite reads exactly: a column without a type would keep a text, and Turso makes a REAL of the text of
 * -2^63 (https://github.com/tursodatabase/turso/pull/8233).
 */
function jsonOfValue(value: Value): string {
  if (typeof value !== 'bigint') return JSON.stringify(value);
  return BigInt.asIntN(64, value) === value ? String(value) : `"${value}"`;
}
