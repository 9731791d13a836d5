// A Cloudflare Worker that keeps its plants in D1. The table: `schema` of plant-store/sqlite, in a migration.
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { toFetch } from 'plant-store/fetch';

/** What is used of `D1Database`. */
interface D1 {
  prepare(sql: string): {
    bind(...values: unknown[]): { run(): Promise<{ readonly meta: { readonly changes: number } }> };
  };
}

interface Env {
  readonly DB: D1;
  readonly TOKEN: string;
}

/** One INSERT a plant: on Workers the I/O of one request may not serve another, so there is no group commit. */
function d1Storage(database: D1): PlantStorage {
  // The id as text: D1 makes a double of a number, and takes no bigint.
  const insert =
    'INSERT INTO plants (id, name, tag) VALUES (CAST(? AS INTEGER), ?, ?) ON CONFLICT (id) DO NOTHING';
  return {
    async create({ id, name, tag }) {
      const values = [String(id), name, tag ?? null];
      const { meta } = await database
        .prepare(insert)
        .bind(...values)
        .run();
      return meta.changes === 1 ? 'created' : 'taken';
    },
  };
}

export default {
  fetch(request: Request, { DB, TOKEN }: Env): Promise<Response> {
    // Bindings belong to a request; making the handler costs next to nothing.
    return toFetch(createPlantStore(d1Storage(DB), acceptTokens(TOKEN)))(request);
  },
};
