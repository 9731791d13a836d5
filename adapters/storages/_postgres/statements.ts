import { cutsSpaces, type LearnedTable } from '../_shared/columns.js';
import { type Rows, textOf, type Value } from '../_shared/rows.js';
import type { Dialect, TableSpec } from '../_shared/table.js';

// Not "name", which cuts, and not arrays, which are another value. A numeric with a negative scale rounds.
const text = 'text|character varying|enum|([^.]+\\.)?citext';
const id = `${text}|character|bpchar|smallint|integer|bigint|numeric`;
const exactly = (types: string) => new RegExp(`^(${types})(\\(\\d+(,\\d+)?\\))?$`);

export const dialect: Dialect = {
  mark: '"',
  container: 'schema',
  checkName(name) {
    // PostgreSQL cuts longer names (https://www.postgresql.org/docs/current/sql-syntax-lexical.html), so that two of them would be one.
    if (new TextEncoder().encode(name).length > 63)
      throw new TypeError(`a name must have at most 63 bytes, got ${name}`);
  },
  types: { id: 'bigint', name: 'text', tag: 'text' },
  exact: { id: exactly(id), name: exactly(text), tag: exactly(text), namespace: exactly(`${id}|uuid`) },
  changes: cutsSpaces,
  text: 'text',
};

/** A statement that connections of `pg` keep prepared under its name: half of the time of a lone INSERT. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** The SQL of a table, and what its parameters are. */
export type Statements = ReturnType<typeof statementsOf>;

/**
 * Parameters travel as text, because drivers and the app's own serializers change values of some types, and are cast to
 * the columns' types, those behind domains: a cast to a domain cuts what is too long for it, an assignment rejects it.
 * Arrays of the usual two types need no cast of each value: 10 % of an INSERT.
 */
export function statementsOf(spec: TableSpec, { columns, hasTriggers }: LearnedTable) {
  const { name, key } = spec;
  const casts = spec.columns.map((_, i) => {
    const cast = columns[i]?.cast ?? `pg_catalog.${i === key.length - 1 ? 'int8' : 'text'}`;
    // `find` then compares with an id that is too large, and an assignment to a smaller integer is exact.
    return cast.replace(/^pg_catalog\.int[24]$/, 'pg_catalog.int8');
  });
  const usual = /^pg_catalog\.(int8|text)$/;
  const arrays = casts.map((cast, i) => `$${i + 1}::text::${usual.test(cast) ? cast : 'text'}[]`);
  const values = casts.map((cast, i) => `new.v${i}::${cast}`);
  const rows = `unnest(${arrays.join(', ')})`;
  const aliases = `AS new (${casts.map((_, i) => `v${i}`).join(', ')}`;
  const stored = key.map((column) => `plant.${column}`);
  // Of several columns, that is a row.
  const keyAsText = `(${stored.join(', ')})::text`;
  const where = (given: string[]) => stored.map((column, i) => `${column} = ${given[i]}`).join(' AND ');
  const into = `INSERT INTO ${name} AS plant (${spec.columns.map(({ quoted }) => quoted).join(', ')})`;
  const ending = `ON CONFLICT (${key.join(', ')}) DO NOTHING`;
  const parameters = casts.map((cast, i) => `$${i + 1}::text::${cast}`);
  const insertFrom = (source: string) =>
    `${into}\nSELECT ${values.join(', ')} FROM ${source},\n(SELECT ${verbosity}, ${patience}) AS settings ${ending}`;
  const insert = `${insertFrom(`${rows} ${aliases})`)} RETURNING ${keyAsText} AS key`;
  // Each parameter comes once, and in order: bridges to libraries rely on that.
  const insertChecked = `WITH sent AS (SELECT * FROM ${rows} ${aliases}))
${insertFrom('sent AS new')} RETURNING CASE WHEN (${stored.join(', ')}) IN (SELECT ${values.slice(0, key.length).join(', ')} FROM sent AS new)
THEN ${keyAsText} ELSE ${failBecauseOf(keyAsText)} END AS key`;
  return {
    // In the order of the arrays: ids come sorted, so that two instances cannot deadlock. If PostgreSQL alone treats
    // several keys as one, the first create wins.
    insert: withName(hasTriggers ? insertChecked : insert),
    /** For one plant, through `pg`, which counts the rows itself: half of the time. It does not see what a trigger changes. */
    insertOne: withName(`${into}
SELECT ${parameters.join(', ')} WHERE ${verbosity} <> ${patience} ${ending}`),
    stored: `SELECT (new.place - 1)::text AS n, ${keyAsText} AS key FROM ${rows} WITH ORDINALITY ${aliases}, place)
JOIN ${name} AS plant ON ${where(values)}`,
    find: `SELECT ${spec.found} FROM ${name} AS plant WHERE ${where(parameters)}`,
    /** What the parameters of `insertOne` are for a row. */
    valuesOf: (row: Rows[number]) => row.map((value, i) => sentTo(columns[i]?.base, value)),
    /** What the parameters of `insert` and of `stored` are: one array for each column. */
    arraysOf: (rows: Rows) =>
      spec.columns.map((_, i) => arrayOf(rows.map((row) => sentTo(columns[i]?.base, row[i]!)))),
  };
}

/**
 * SQL that fails, and so rolls back the INSERT that it is part of. An expression cannot raise an error of its own: a text that is no
 * integer does, and is in its message, for people. It depends on the row, so that nothing evaluates it beforehand.
 */
const failBecauseOf = (key: string) =>
  `(left(${key}, 0) || 'a trigger stores the plant under another key')::int4::text`;

// Both settings end with the statement. The warning of `isUnreplicated` must not be filtered. ON CONFLICT waits for a rival
// transaction to end, but not for long, because a batch waits with it.
const verbosity = "set_config('client_min_messages', 'warning', true)";
const patience = "set_config('lock_timeout', '250', true)";

/**
 * Names a statement. APM agents show the name. It has a hash of the text (FNV-1a, 64 bits), because a pooler may run what
 * another process has prepared under it.
 */
function withName(text: string): Statement {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return { name: `plant_store_insert_${hash.toString(36)}`, text };
}

/** A value as it is sent to a column of this type. */
function sentTo(type: string | undefined, value: Value): string | null {
  const isJson = type === 'json' || type === 'jsonb';
  if (!isJson || value === null || typeof value === 'bigint') return textOf(value);
  return JSON.stringify(value);
}

/** An array as PostgreSQL spells it: a driver that spells arrays itself needs to know their types, and some do not. */
export function arrayOf(values: readonly (string | null)[]): string {
  const elements = values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`));
  return `{${elements.join(',')}}`;
}
