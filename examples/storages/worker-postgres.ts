// A Cloudflare Worker, with nodejs_compat, that stores plants in PostgreSQL. Each request makes a pool, because no other request can use its
// connections. With Hyperdrive, pass env.HYPERDRIVE.connectionString.
import pg from 'pg';
import { acceptTokens, createPlantStore, describeError } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { postgresStorage } from 'plant-store/postgres';

interface Env {
  readonly DATABASE_URL: string;
  readonly TOKEN: string;
}

const limits = { max: 1, connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };

export default {
  async fetch(request: Request, env: Env, context: { waitUntil(task: Promise<unknown>): void }) {
    const pool = new pg.Pool({ connectionString: env.DATABASE_URL, ...limits });
    pool.on('error', (error) => console.error(describeError(error)));
    const handle = createPlantStore(postgresStorage(pool), acceptTokens(env.TOKEN));
    try {
      return await toFetch(handle)(request);
    } finally {
      context.waitUntil(pool.end());
    }
  },
};
