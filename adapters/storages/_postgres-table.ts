import { type Column, type Columns, checkColumns, definitionsOf, membersOf } from './_table.js';

export const columns: Columns = { id: 'bigint PRIMARY KEY', name: 'text NOT NULL', tag: 'text' };

export function schemaOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (${definitionsOf(columns)})`;
}

/** What is known of a table: its columns, and the statements that fit their types. */
export interface PostgresTable {
  readonly columns: readonly Column[];
  readonly insert: string;
  readonly stored: string;
  readonly find: string;
}

/** Parameters travel as text, because an app may have set parsers of its own, and are cast to the columns' types. */
export function tableOf(table: string, found: readonly Found[] = []): PostgresTable {
  const names = membersOf(columns);
  const typeOf = (name: string) => found.find((column) => column.name === name)?.cast ?? 'text';
  const types = names.map((name) => (found.length > 0 ? typeOf(name) : columns[name].split(' ', 1)[0]!));
  const list = names.map(quoted).join(', ');
  const arrays = names.map((_, i) => `$${i + 1}::text[]::${types[i]}[]`);
  // Sorted, so that two instances cannot deadlock. ON CONFLICT waits for a rival transaction to end, but not for long,
  // because a batch waits with it; an app's own `lock_timeout` holds if it is shorter. The warning of `isUnreplicated`
  // must not be filtered. Both settings end with the statement.
  return {
    columns: found,
    insert: `INSERT INTO ${table} AS plant (${list})
SELECT ${names.map((name) => `new.${quoted(name)}`).join(', ')} FROM unnest(${arrays.join(', ')}) AS new (${list}),
set_config('client_min_messages', 'warning', true) AS verbosity,
set_config('lock_timeout', regexp_replace(current_setting('lock_timeout'), '${longerThan250ms}', '250ms'), true) AS patience
ORDER BY new.id ON CONFLICT (id) DO NOTHING RETURNING plant.id::text AS key`,
    stored: `SELECT (new.place - 1)::text AS n, plant.id::text AS key
FROM unnest(${arrays[0]}) WITH ORDINALITY AS new (id, place) JOIN ${table} AS plant ON plant.id = new.id`,
    find: `SELECT ${list} FROM ${table} AS plant WHERE plant.id = $1::text::${types[0]}`,
  };
}

/** What `current_setting` shows, in the largest unit that fits. Without `?` and backslashes, which others may take for theirs. */
const longerThan250ms = '^(0|[0-9]+(s|min|h|d)|(2[5-9]|[3-9][0-9])[0-9]ms|[0-9]{4,}ms)$';

/** A column as the catalogue shows it. */
export interface Found extends Column {
  /** Its type, for casts: without a length, to which a cast would cut. */
  readonly cast: string;
}

/** Finds the columns of a table, and the types behind domains. */
export const lookAt = `SELECT a.attname AS name, quote_ident(n.nspname) || '.' || quote_ident(t.typname) AS "cast",
format_type(a.atttypid, a.atttypmod) AS type, b.typname AS base, b.typtype AS kind,
CASE WHEN t.typbasetype = 0 THEN a.atttypmod ELSE t.typtypmod END AS modifier
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid JOIN pg_namespace AS n ON n.oid = t.typnamespace
JOIN pg_type AS b ON b.oid = CASE WHEN t.typbasetype = 0 THEN t.oid ELSE t.typbasetype END
WHERE a.attrelid = to_regclass($1::text) AND a.attname = ANY ($2::text[])`;

/** @throws {UnusableTable} if a column would change the values that it is given */
export function foundIn(table: string, rows: readonly Record<string, unknown>[]): Found[] {
  const found = rows.map(({ name, cast, type, base, kind, modifier }): Found => {
    const length = Number(modifier) - 4;
    const isText = /^(text|varchar|citext)$/.test(String(base));
    // A numeric with a negative scale rounds.
    const isId =
      isText ||
      /^(int[248]|bpchar)$/.test(String(base)) ||
      (base === 'numeric' && !(length > 0 && length & 0x400));
    return {
      name: String(name),
      cast: String(cast),
      type: String(type),
      isExact: name === 'id' ? isId : isText || kind === 'e',
      maxLength: base === 'varchar' && length > 0 ? length : undefined,
    };
  });
  checkColumns(table, found, columns);
  return found;
}

function quoted(name: string): string {
  return `"${name}"`;
}
