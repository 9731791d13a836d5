import type { Column } from './_columns.js';
import { textOf, type Value } from './_rows.js';
import type { Dialect, Table } from './_table.js';

export const dialect: Dialect = {
  mark: '"',
  container: 'schema',
  // PostgreSQL cuts longer names, so that two of them would be one.
  maxBytes: 63,
  types: { id: 'bigint PRIMARY KEY', name: 'text NOT NULL', tag: 'text' },
  text: 'text',
};

/** A column as the catalogue shows it. */
export interface PostgresColumn extends Column {
  /** Its type, for casts: without a length, to which a cast would cut. */
  readonly cast: string;
  /** Whether it holds JSON. */
  readonly isJson: boolean;
}

/** The statements that fit the columns of a table. */
export interface PostgresSql {
  readonly columns: readonly PostgresColumn[];
  readonly keyLength: number;
  readonly insert: string;
  /** For one plant, whose values are no arrays: two thirds of the time. */
  readonly insertOne: string;
  readonly stored: string;
  readonly find: string;
}

/**
 * Parameters travel as text, because drivers and the app's own serializers change values of some types, and are cast to
 * the columns' types. Arrays of the usual two types are not cast: 10 % of an INSERT.
 *
 * @param columns in the order of the table's
 */
export function sqlOf(table: Table, columns: readonly PostgresColumn[]): PostgresSql {
  const { name, key } = table;
  const isUsual = columns.map(({ cast }) => /^pg_catalog\.(int8|text)$/.test(cast));
  const arrays = columns.map(({ cast }, i) => `$${i + 1}::${isUsual[i] ? cast : 'text'}[]`);
  const values = columns.map(({ cast }, i) => (isUsual[i] ? `new.v${i}` : `new.v${i}::${cast}`));
  const aliases = columns.map((_, i) => `v${i}`);
  const stored = key.map((column) => `plant.${column}`);
  const text = key.length > 1 ? `ROW(${stored.join(', ')})::text` : `${stored}::text`;
  const where = (value: (i: number) => string) =>
    stored.map((column, i) => `${column} = ${value(i)}`).join(' AND ');
  // Sorted, so that two instances cannot deadlock. Of keys that only PostgreSQL takes for one, the first create wins.
  const [ordinality, place] = key.length > 1 ? [' WITH ORDINALITY', ', place'] : ['', ''];
  const order = `${key.map((_, i) => i + 1).join(', ')}${place && ', new.place'}`;
  const into = `INSERT INTO ${name} AS plant (${table.columns.join(', ')})`;
  const ending = `ON CONFLICT (${key.join(', ')}) DO NOTHING RETURNING ${text} AS key`;
  const parameter = (i: number) => `$${i + 1}::text::${columns[i]!.cast}`;
  return {
    columns,
    keyLength: key.length,
    insert: `${into}
SELECT ${values.join(', ')} FROM unnest(${arrays.join(', ')})${ordinality} AS new (${aliases.join(', ')}${place}),
(SELECT ${verbosity}, ${patience}) AS settings
ORDER BY ${order} ${ending}`,
    insertOne: `${into}
SELECT ${columns.map((_, i) => parameter(i)).join(', ')} WHERE ${verbosity} <> '' AND ${patience} <> '' ${ending}`,
    stored: `SELECT (new.place - 1)::text AS n, ${text} AS key
FROM unnest(${arrays.slice(0, key.length).join(', ')}) WITH ORDINALITY AS new (${aliases.slice(0, key.length).join(', ')}, place)
JOIN ${name} AS plant ON ${where((i) => values[i]!)}`,
    find: `SELECT ${table.found} FROM ${name} AS plant WHERE ${where(parameter)}`,
  };
}

// ON CONFLICT waits for a rival transaction to end, but not for long, because a batch waits with it; an app's own
// `lock_timeout` holds if it is shorter. The warning of `isUnreplicated` must not be filtered. Both settings end with the
// statement.
const verbosity = "set_config('client_min_messages', 'warning', true)";

/** What `current_setting` shows, in the largest unit that fits. Without `?` and backslashes, which others may take for theirs. */
const longerThan250ms = '^(0|[0-9]+(s|min|h|d)|(2[5-9]|[3-9][0-9])[0-9]ms|[0-9]{4,}ms)$';
const patience = `set_config('lock_timeout', regexp_replace(current_setting('lock_timeout'), '${longerThan250ms}', '250ms'), true)`;

/** Finds the columns of a table, and the types behind domains. */
export const lookAt = `SELECT a.attname AS name, quote_ident(n.nspname) || '.' || quote_ident(t.typname) AS "cast",
format_type(a.atttypid, a.atttypmod) AS type, b.typname AS base, b.typtype AS kind,
CASE WHEN t.typbasetype = 0 THEN a.atttypmod ELSE t.typtypmod END AS modifier
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid JOIN pg_namespace AS n ON n.oid = t.typnamespace
JOIN pg_type AS b ON b.oid = CASE WHEN t.typbasetype = 0 THEN t.oid ELSE t.typbasetype END
WHERE a.attrelid = to_regclass($1::text) AND a.attname = ANY ($2::text[])`;

export function columnOf({
  name,
  cast,
  type,
  base,
  kind,
  modifier,
}: Record<string, unknown>): PostgresColumn {
  const length = Number(modifier) - 4;
  const isText = /^(text|varchar|citext)$/.test(String(base));
  // A numeric with a negative scale rounds.
  const isRounded = length > 0 && (length & 0x400) !== 0;
  const isId = isText || /^(int[248]|bpchar)$/.test(String(base)) || (base === 'numeric' && !isRounded);
  return {
    name: String(name),
    cast: String(cast),
    type: String(type),
    isExact: name === 'id' ? isId : isText || kind === 'e',
    maxLength: base === 'varchar' && length > 0 ? length : undefined,
    isJson: /^jsonb?$/.test(String(base)),
  };
}

/** A value as it is sent to a column. */
export function sent(value: Value, isJson: boolean): string | null {
  return isJson && value !== null && typeof value !== 'bigint' ? JSON.stringify(value) : textOf(value);
}

/** What to take a column for that the database does not show. */
export function assumed(name: string): PostgresColumn {
  const cast = name === 'id' ? 'pg_catalog.int8' : 'pg_catalog.text';
  return { name, cast, type: cast, isExact: true, isJson: false };
}
