import { postgresStorage } from 'plant-store/postgres';
import { describe } from 'vitest';
import { ownServer } from './postgres-server.js';
import { itKeepsTenantsOfAPool } from './tenant-pool.js';

const own = ownServer();
let tables = 0;

describe('postgresStorage', () => {
  itKeepsTenantsOfAPool(async () => {
    const table = `plants${tables++}`;
    await own.pool.query(`CREATE TABLE ${table} (id bigint PRIMARY KEY, name text NOT NULL, tag text,
      tenant text NOT NULL DEFAULT current_setting('app.tenant'), UNIQUE (tenant, id))`);
    return {
      open(tenantOf, options = {}) {
        const query = async (text: string, values: unknown[] = []) => {
          const client = await own.pool.connect();
          try {
            await client.query("SELECT set_config('app.tenant', $1, false)", [tenantOf()]);
            return await client.query(text, values);
          } finally {
            client.release();
          }
        };
        return postgresStorage({ query }, { table, ...options });
      },
      rows: async () => (await own.pool.query(`SELECT name, tenant FROM ${table}`)).rows,
    };
  });
});
