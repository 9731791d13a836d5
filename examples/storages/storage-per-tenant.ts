// A storage per tenant, in a bounded map: row-level security, or a schema or a database for each tenant.
// `DATABASE_URL=postgres://… node --import tsx examples/storages/storage-per-tenant.ts`
import { createServer } from 'node:http';
import pg from 'pg';
import {
  createPlantStore,
  groupCommit,
  type PlantStorage,
  RolledBack,
  StorageBusy,
  type VerifyToken,
} from 'plant-store';
import { toNode } from 'plant-store/node';
import { postgresStorage } from 'plant-store/postgres';

interface Caller {
  readonly tenant: string;
}

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 10_000 };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(error.message));

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
      return storage.create(plant, context);
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
 * A batch has one tenant, because a policy sees one setting.
 */
export const underPolicies = perTenant((tenant) =>
  groupCommit(async (plants) => {
    const rows = await asTenant(tenant, insert, [
      plants.map(({ id }) => String(id)),
      plants.map(({ name }) => name),
      plants.map(({ tag }) => tag ?? null),
    ]);
    const created = new Set(rows.map(({ id }) => id));
    return plants.map(({ id }) => (created.has(String(id)) ? 'created' : 'taken'));
  }),
);

const insert = `INSERT INTO plants (id, name, tag) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
  ON CONFLICT (tenant, id) DO NOTHING RETURNING id::text`;

/** Runs one statement in a transaction with the tenant's setting, which ends with the transaction. */
async function asTenant(tenant: string, text: string, values: unknown[]): Promise<{ id: string }[]> {
  const client = await pool.connect().catch((error) => {
    throw new StorageBusy(String(error)); // nothing was sent
  });
  let broken: boolean | undefined;
  try {
    await client.query('BEGIN');
    await client.query("SELECT set_config('app.tenant', $1, true)", [tenant]);
    const { rows } = await client.query<{ id: string }>(text, values);
    await client.query('COMMIT');
    return rows;
  } catch (error) {
    broken = true;
    // Data, constraint, privilege or policy: PostgreSQL has stored nothing. Other outcomes are unknown.
    if (/^(22|23|42|44)/.test(String((error as { code?: unknown }).code)))
      throw new RolledBack('apart', error);
    throw error;
  } finally {
    client.release(broken); // a broken connection is closed, which ends its transaction
  }
}

// The tenant becomes a name of a schema: accept names that you gave. In your app it is a claim of a JWT, as in tenants.ts.
const verifyToken: VerifyToken<Caller> = (token) => {
  const [tenant, secret] = token.split('.');
  return secret === 'secret' && /^[a-z][a-z0-9_]{0,30}$/.test(tenant!) && { tenant: tenant! };
};

const storage = process.env.TENANTS === 'schemas' ? inSchemas : underPolicies;
export const server = createServer(toNode(createPlantStore(storage, verifyToken)));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
