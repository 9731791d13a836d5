import {
  createIndex,
  hasIndexOf,
  missingIndex,
  missingTable,
  narrowIndexOf,
  unfilledColumn,
} from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import { sqlStateOf } from './errors.js';
import type { PgClient } from './pool.js';
import { arrayOf } from './statements.js';

/** What the catalogue says of a table and this role. A text lists names, quoted, and is null if there are none. */
interface TableFacts {
  readonly kind: 'r' | 'p' | 'v' | 'f' | 'm';
  /** What a partitioned table is partitioned by. */
  readonly partition: string | null;
  readonly role: string;
  /** The columns that the role may not insert, and those that it may not read. */
  readonly denied: string | null;
  /** A column that takes no null, has no default, and is none of the storage's. */
  readonly unfilled: string | null;
}

// pg_trigger.tgtype: 1 for each row, 2 before, 4 on INSERT. Such a trigger may fill a column.
const tableFacts = `SELECT relkind::text AS kind, pg_get_partkeydef(pg_class.oid) AS partition, quote_ident(current_user) AS role,
(SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0
  AND (attname = ANY ($1::text::text[]) AND NOT has_column_privilege(attrelid, attnum, 'INSERT')
    OR attname = ANY ($2::text::text[]) AND NOT has_column_privilege(attrelid, attnum, 'SELECT'))) AS denied,
(SELECT quote_ident(attname) FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid WHERE attrelid = pg_class.oid
  AND attnum > 0 AND NOT attisdropped AND (attnotnull OR typnotnull) AND NOT atthasdef AND attidentity = ''
  AND typdefault IS NULL AND attname <> ALL ($3::text::text[])
  AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = attrelid AND NOT tgisinternal AND tgtype & 7 = 7) LIMIT 1) AS unfilled
FROM pg_class WHERE oid = to_regclass($4::text)`;

/** The columns of each unique index that ON CONFLICT can use, or that can be in its way, as JSON. */
const uniqueIndexes = `SELECT (SELECT json_agg(attname) FROM pg_attribute WHERE attrelid = indrelid
  AND attnum = ANY ((indkey::int2[])[0:indnkeyatts - 1]))::text AS columns
FROM pg_index WHERE indrelid = to_regclass($1::text) AND indisunique AND indimmediate AND indisvalid
AND indpred IS NULL AND indexprs IS NULL`;

/** A schema that has the table, and that this role may not use. */
const closedSchema = `SELECT quote_ident(nspname) AS schema, quote_ident(current_user) AS role
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relname = $1::text
AND nspname = ANY (CASE WHEN $2::text = '' THEN string_to_array(replace(current_setting('search_path'), ' ', ''), ',')
  ELSE ARRAY[$3::text] END)
AND NOT has_schema_privilege(pg_namespace.oid, 'USAGE') LIMIT 1`;

/** The schema in which the table would be created, and whether this role may use it and create tables there. */
const newSchema = `SELECT quote_ident(nspname) AS schema, quote_ident(current_user) AS role,
has_schema_privilege(oid, 'CREATE') AS "canCreate"
FROM pg_namespace WHERE nspname = COALESCE(NULLIF($1::text, ''), current_schema())`;

/**
 * Returns what is wrong with a table that has all columns, or with the grants, and what to do, in a sentence.
 *
 * @param error why it is asked, if a create failed
 */
export async function faultOfTable(
  client: PgClient,
  spec: TableSpec,
  error: unknown,
): Promise<string | undefined> {
  const names = arrayOf(spec.names);
  const { rows } = await client.query(tableFacts, [names, arrayOf(spec.readNames), names, spec.name]);
  const table: TableFacts | undefined = rows[0];
  if (!table) return undefined;
  if (table.denied) {
    const columns = `the role ${table.role} may not use all of its columns (${table.denied})`;
    return `${columns}. Run: GRANT SELECT, INSERT ON ${spec.name} TO ${table.role}`;
  }
  const indexFault = await indexFaultOf(client, spec, table, error);
  if (indexFault) return indexFault;
  return table.unfilled ? unfilledColumn(table.unfilled) : undefined;
}

/**
 * Returns why no table was found, and what to do; `undefined` if the error says something else.
 *
 * @param error why it is asked, if a create failed
 */
export async function whyNotFound(
  client: PgClient,
  spec: TableSpec,
  error: unknown,
): Promise<string | undefined> {
  const schema = spec.container ?? '';
  const { rows } = await client.query(closedSchema, [spec.table, schema, schema]);
  const [found] = rows;
  if (!found) return error && sqlStateOf(error) !== '42P01' ? undefined : missingTable(spec);
  return `the role ${found.role} may not use its schema. Run: GRANT USAGE ON SCHEMA ${found.schema} TO ${found.role}`;
}

/** Returns why this role cannot create the table. */
export async function whyNotCreated(
  client: PgClient,
  spec: TableSpec,
  error: unknown,
): Promise<string | undefined> {
  if (sqlStateOf(error) !== '42501') return undefined;
  const { rows } = await client.query(newSchema, [spec.container ?? '']);
  const [found] = rows;
  if (!found || found.canCreate) return undefined;
  return `the role ${found.role} may not create it. Run: GRANT CREATE, USAGE ON SCHEMA ${found.schema} TO ${found.role}`;
}

async function indexFaultOf(
  client: PgClient,
  spec: TableSpec,
  table: TableFacts,
  error: unknown,
): Promise<string | undefined> {
  const needed = missingIndex(spec);
  if (table.kind === 'v') {
    // A view shows no index: its INSERT fails if the table behind it has none.
    const isMissing = sqlStateOf(error) === '42P10';
    return isMissing ? `${needed}, which the table behind this view has to have` : undefined;
  }
  const { rows } = await client.query(uniqueIndexes, [spec.name]);
  const indexes: string[][] = rows.map(({ columns }) => JSON.parse(columns));
  const narrow = narrowIndexOf(indexes, spec.keyNames);
  if (narrow) {
    const before = `its unique index of (${narrow.join(', ')}) lets one namespace alone have an id`;
    return `${before}: drop that constraint, and add PRIMARY KEY (${spec.key.join(', ')})`;
  }
  if (hasIndexOf(indexes, spec.keyNames)) return undefined;
  if (table.kind === 'p') {
    return `${needed}, which a table that is partitioned by ${table.partition} can have only if these columns are in its key. Partition it by ${spec.key.join(' or ')}`;
  }
  return `${needed}. ${createIndex(spec)}`;
}
