// A Cloudflare Worker that stores plants in D1. A migration creates the table: `schema` of plant-store/sqlite.
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { toFetch } from 'plant-store/fetch';

/** The part of `D1Database` that this needs. */
interface D1 {
  prepare(sql: string): { bind(...values: unknown[]): object };
  batch(statements: object[]): Promise<{ results: unknown[] }[]>;
}

interface Env {
  readonly DB: D1;
  readonly TOKEN: string;
}

/** One INSERT for each plant: a request may not use the I/O of another, so creates cannot be gathered. */
function d1Storage(database: D1): PlantStorage {
  // The id is sent as text, because D1 rounds a number and rejects a bigint.
  const insert =
    'INSERT INTO plants (id, name, tag) VALUES (CAST(? AS INTEGER), ?, ?) ON CONFLICT (id) DO NOTHING RETURNING 1';
  const find = 'SELECT 1 FROM plants WHERE id = CAST(? AS INTEGER)';
  return {
    async create({ id, name, tag }) {
      // In one transaction. Rows, because `meta.changes` counts those of triggers, too.
      const [inserted, stored] = await database.batch([
        database.prepare(insert).bind(String(id), name, tag ?? null),
        database.prepare(find).bind(String(id)),
      ]);
      if (stored?.results.length !== 1)
        throw new Error(`plant ${id} is not stored after its INSERT: check the table's triggers`);
      return inserted?.results.length === 1 ? 'created' : 'taken';
    },
  };
}

export default {
  fetch(request: Request, { DB, TOKEN }: Env): Promise<Response> {
    // A binding belongs to one request, so each request makes its handler, which is cheap.
    return toFetch(createPlantStore(d1Storage(DB), acceptTokens(TOKEN)))(request);
  },
};
