// A storage per tenant, in a bounded map: row-level security, or a schema or a database for each tenant.
// `DATABASE_URL=postgres://… node --import tsx examples/storages/storage-per-tenant.ts`
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import pg from 'pg';
import { createPlantStore, describeError, type PlantStorage, type VerifyToken } from 'plant-store';
import { toNode } from 'plant-store/node';
import { postgresStorage } from 'plant-store/postgres';

interface Caller {
  readonly tenant: string;
}

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(describeError(error)));

/** The tenant of the request. In your app its middleware may set it. */
const currentTenant = new AsyncLocalStorage<string>();

/** Opens a storage for each tenant, and keeps the ones that were used last. */
export function perTenant(open: (tenant: string) => PlantStorage, max = 1_000): PlantStorage<Caller> {
  const storages = new Map<string, PlantStorage>();
  return {
    create(plant, context) {
      const { tenant } = context.caller;
      const storage = storages.get(tenant) ?? open(tenant);
      storages.delete(tenant);
      storages.set(tenant, storage); // the last in the map is the last used
      // Its creates in flight finish: they hold it.
      if (storages.size > max) storages.delete(storages.keys().next().value as string);
      return currentTenant.run(tenant, () => storage.create(plant, context));
    },
  };
}

/** A schema for each tenant. For a database each, open the tenant's pool here, and end it when the map drops it. */
export const inSchemas = perTenant((tenant) => postgresStorage(pool, { table: `tenant_${tenant}.plants` }));

/**
 * One table under row-level security, for a role that does not own it:
 *
 *   CREATE TABLE plants (
 *     tenant text DEFAULT current_setting('app.tenant'), id bigint, name text NOT NULL, tag text, PRIMARY KEY (tenant, id)
 *   );
 *   ALTER TABLE plants ENABLE ROW LEVEL SECURITY;
 *   CREATE POLICY own ON plants USING (tenant = current_setting('app.tenant'));
 *
 * A batch runs in the context of one of its creates: all of them must have the tenant that the pool sets.
 */
export const underPolicies = perTenant((tenant) =>
  postgresStorage(poolOfTenant, { namespace: { tenant: () => tenant } }),
);

/** A pool of apps with row-level security: it takes the tenant of the request, and tells the database. */
const poolOfTenant = {
  async query(text: string, values: unknown[] = []) {
    const client = await pool.connect();
    try {
      // Behind a pooler in transaction mode, run both in one transaction, and pass `true`.
      await client.query("SELECT set_config('app.tenant', $1, false)", [currentTenant.getStore()]);
      return await client.query(text, values);
    } finally {
      client.release();
    }
  },
};

// The tenant becomes a name of a schema: accept names that you gave. In your app it is a claim of a JWT, as in tenants.ts.
const verifyToken: VerifyToken<Caller> = (token) => {
  const [tenant, secret] = token.split('.');
  return secret === 'secret' && /^[a-z][a-z0-9_]{0,30}$/.test(tenant!) && { tenant: tenant! };
};

const storage = process.env.TENANTS === 'schemas' ? inSchemas : underPolicies;
export const server = createServer(toNode(createPlantStore(storage, verifyToken)));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
