import { type Column, type LearnedTable, learn } from '../_shared/columns.js';
import { unusable } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import type { PgClient } from './pool.js';
import { rowsOf } from './query.js';
import { arrayOf } from './statements.js';

/**
 * Finds the columns of a table, the types behind domains, the session's `statement_timeout`, and whether the table, or a partition of
 * it, has triggers (pg_trigger.tgtype: 4 on INSERT) or rules, or is a view. A constraint that is checked at COMMIT is a trigger, too.
 */
const lookAt = `WITH RECURSIVE found (name, type, base, modifier) AS (
SELECT attname::text, format_type(atttypid, atttypmod), atttypid, atttypmod
FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attname = ANY ($2::text::text[]) UNION ALL
SELECT name, type, typbasetype, typtypmod FROM found JOIN pg_type ON oid = base WHERE typtype = 'd'),
parts (part) AS (SELECT to_regclass($3::text)::oid UNION ALL SELECT inhrelid FROM parts JOIN pg_inherits ON inhparent = part)
SELECT name, type, format('%s.%I', typnamespace::regnamespace, typname) AS "cast",
CASE typtype WHEN 'e' THEN 'enum' ELSE format_type(base, modifier) END AS base,
current_setting('statement_timeout', true) AS timeout, current_setting('server_encoding', true) AS encoding,
"hasTriggers"::text, "checksAtCommit"::text, "isView"::text, "mayTakeNoIndex"::text
FROM found JOIN pg_type ON oid = base,
(SELECT coalesce(bool_or(relkind NOT IN ('r', 'p') OR relhasrules OR tgtype & 4 = 4 AND NOT tgisinternal), false) AS "hasTriggers",
  coalesce(bool_or(tgtype & 4 = 4 AND tginitdeferred), false) AS "checksAtCommit", bool_or(relkind = 'v') AS "isView",
  bool_or(relkind IN ('v', 'p')) AS "mayTakeNoIndex"
  FROM parts JOIN pg_class ON pg_class.oid = part LEFT JOIN pg_trigger ON tgrelid = part) AS triggers
WHERE typtype <> 'd'`;

/** Looks at the table, and at the session's `statement_timeout`; `undefined` if there is no table. */
export async function look(
  client: PgClient,
  spec: TableSpec,
): Promise<{ table: LearnedTable; timeout: unknown } | undefined> {
  // Every table has a `ctid`: one without the other columns exists, too.
  const names = arrayOf(['ctid', ...spec.columns.map(({ name }) => name)]);
  // Each parameter comes once, in order, and as text: bridges rely on that.
  const found: Look[] = await rowsOf(client, lookAt, [spec.name, names, spec.name]);
  if (!found[0]) return undefined;
  const { timeout, encoding } = found[0];
  // Conversions from and to other encodings change single characters without an error.
  if (encoding && encoding !== 'UTF8')
    throw unusable(spec, `its database is in ${encoding}. Move it to a database that has ENCODING 'UTF8'`);
  const table = learn(spec, found, found[0].hasTriggers === 'true', found[0].isView === 'true');
  const checksAtCommit = found[0].checksAtCommit === 'true';
  const mayTakeNoIndex = found[0].mayTakeNoIndex === 'true';
  return { table: { ...table, checksAtCommit, mayTakeNoIndex }, timeout };
}

interface Look extends Column {
  readonly timeout?: string | null;
  readonly hasTriggers?: string;
  readonly checksAtCommit?: string;
  readonly isView?: string;
  readonly mayTakeNoIndex?: string;
  readonly encoding?: string | null;
}
