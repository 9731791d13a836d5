import { ownWords } from '../../../src/for-storages.js';
import { Rejection } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import type { PgClient } from './pool.js';

const words = 'plant-store found a row with another key: ';

// Assumed of PostgreSQL: in English it quotes the text so. In other languages the plant is rejected, and no trigger is named.
const pattern = new RegExp(`"${words}([^"]*)"`);

/**
 * SQL that fails, and so rolls back the INSERT that it is part of, with the key in its message. An expression cannot raise an error
 * of its own: a text that is no integer does.
 */
export const failBecauseOf = (key: string) => `('${words}' || ${key})::int4::text`;

/**
 * The key that a row got instead of the one that was sent, if the server said so. Its SQLSTATE decides: libraries put the statement,
 * which has the same words, in the message of any error.
 */
export function changedKeyIn(sqlState: string | undefined, message: string): string | undefined {
  return sqlState === '22P02' ? pattern.exec(message)?.[1] : undefined;
}

/** The triggers that run before a row is inserted into the table, or into a partition of it. */
const triggersBefore = `SELECT string_agg(DISTINCT quote_ident(tgname), ', ') AS names FROM pg_trigger
WHERE NOT tgisinternal AND tgtype & 7 = 7 AND (tgrelid = to_regclass($1::text)
  OR tgrelid IN (SELECT relid FROM pg_partition_tree(to_regclass($2::text))))`;

/** Returns the rejection of a plant that a trigger would have stored under another key. Others of its batch may keep theirs. */
export async function rejectionOf(client: PgClient, { name }: TableSpec): Promise<Rejection> {
  const { rows } = await client.query(triggersBefore, [name, name]);
  const trigger = rows[0]?.names ? `its trigger ${rows[0].names}` : 'a trigger behind it';
  const why = `the table ${name} would store the plant under another key: ${trigger} changes it`;
  return new Rejection('apart', ownWords(new Error(`${why}. Let the trigger keep the key, or drop it`)));
}
