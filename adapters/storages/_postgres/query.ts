import { WrongResult } from '../_shared/wrong-handle.js';
import type { PgClient } from './pool.js';

/** Runs a statement, and returns its rows. */
export async function rowsOf(client: PgClient, text: string, values: (string | null)[]) {
  return checkedRows(await client.query(text, values));
}

// biome-ignore lint/suspicious/noExplicitAny: what a driver made of a row
export function checkedRows(result: unknown): any[] {
  const { rows } = Object(result) as { rows?: unknown };
  if (!Array.isArray(rows)) throw new WrongResult('query', '{ rows: [...] }', result);
  return rows;
}
