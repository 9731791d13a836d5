// The programs for apps with tenants, on a real PostgreSQL.
import type { JWTPayload } from 'jose';
import type { PlantStorage } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { schemaOf } from 'plant-store/postgres';
import { storageCases } from 'plant-store/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { contextOf } from '../storages/context.js';
import { ownServer } from '../storages/postgres-server.js';
import { createPlant } from '../support/plants.js';
import { plantOf, withColumns } from '../support/tables.js';
import { type Key, newKey, startIssuer } from './issuer.js';
import { exampleUrl, runExamplesHere } from './recipe.js';

runExamplesHere();

const own = ownServer();
let key: Key;
let issuer: Awaited<ReturnType<typeof startIssuer>>;

beforeAll(async () => {
  const ofTenants = withColumns(schemaOf({ namespace: { tenant: () => '' } }), {
    tenant: "text DEFAULT current_setting('app.tenant')",
  });
  await own.pool.query(`
    CREATE ROLE app LOGIN;
    GRANT CREATE ON SCHEMA public TO app;
    ${ofTenants};
    ALTER TABLE plants ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON plants USING (tenant = current_setting('app.tenant'));
    GRANT SELECT, INSERT ON plants TO app;
    CREATE SCHEMA tenant_garden; ${schemaOf({ table: 'tenant_garden.plants' })};
    CREATE SCHEMA tenant_park; ${schemaOf({ table: 'tenant_park.plants' })};
    GRANT USAGE ON SCHEMA tenant_garden, tenant_park TO app;
    GRANT SELECT, INSERT ON tenant_garden.plants, tenant_park.plants TO app;`);

  key = await newKey('a');
  issuer = await startIssuer(key);
  process.env.ISSUER = issuer.url;
  // As a role that owns no table with policies, and is no superuser.
  process.env.DATABASE_URL = own.server.url.replace('postgres@', 'app@');
  return () => issuer.close();
});

function token(claims: JWTPayload, sub = 'alice'): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 300;
  return key.sign({ iss: issuer.url, aud: 'plants', sub, exp, ...claims });
}

/** Every promise of a storage, with a second tenant, whose ids are its own. */
function itKeepsThePromises<Caller>(
  load: () => Promise<PlantStorage<Caller>>,
  callerOf: (tenant: string) => Caller,
  sqlOf: (tenant: string) => { from: string; empty: string },
): void {
  const peekAs = (tenant: string) => ({
    caller: callerOf(tenant),
    async peek(id: bigint) {
      const { rows } = await own.pool.query(`SELECT * FROM ${sqlOf(tenant).from} AND id = $1`, [String(id)]);
      return plantOf(rows[0]);
    },
  });
  const open = async () => {
    const storage = await load();
    for (const tenant of ['garden', 'park']) await own.pool.query(sqlOf(tenant).empty);
    return { storage, ...peekAs('garden'), other: peekAs('park') };
  };
  for (const { id, name, run } of storageCases(open)) it(`${id}: ${name}`, run);
}

describe('one table, with the tenant of the token', () => {
  const load = () => import('../../examples/storages/tenants.js');

  itKeepsThePromises(
    async () => (await load()).storage,
    (tenant) => ({ tenant, subject: 'alice' }),
    (tenant) => ({ from: `tenant_plants WHERE tenant = '${tenant}'`, empty: 'TRUNCATE tenant_plants' }),
  );

  it('serves each tenant its own plants, for its token alone', async () => {
    const url = `${await exampleUrl(load())}/api`;
    await own.pool.query('TRUNCATE tenant_plants');
    const scope = 'plants:read plants:write';
    const garden = await token({ tenant: 'garden', scope });
    const park = await token({ tenant: 'park', scope }, 'bob');
    const get = async (id: string, bearer: string) => {
      const response = await fetch(`${url}/plants/${id}`, { headers: { authorization: `Bearer ${bearer}` } });
      return [response.status, await response.json()];
    };
    const create = async (name: string, bearer: string) =>
      (await createPlant(url, `{"id":9007199254740993,"name":"${name}"}`, bearer)).status;

    expect(await create('Rosa', garden)).toBe(200);
    expect(await get('9007199254740993', park)).toMatchObject([404, { error: 1404 }]);
    expect([await create('Ilex', park), await create('Acer', park)]).toEqual([200, 400]);
    expect(await get('9007199254740993', garden)).toEqual([
      200,
      { name: 'Rosa', tag: null, created_by: 'alice' },
    ]);
    expect(await get('9007199254740993', park)).toMatchObject([200, { name: 'Ilex', created_by: 'bob' }]);
    for (const bad of ['rose', '9223372036854775808'])
      expect(await get(bad, garden)).toMatchObject([400, { error: 1400 }]);
  });

  it('rejects a token without a tenant, without the scope, or of another issuer', async () => {
    const url = `${await exampleUrl(load())}/api`;
    const create = async (bearer: string) => {
      const { status, headers } = await createPlant(url, '{"id":1,"name":"Rosa"}', bearer);
      return [status, headers.get('www-authenticate')];
    };
    const invalid = [401, 'Bearer realm="plants", error="invalid_token"'];
    expect(await create(await token({ scope: 'plants:write' }))).toEqual(invalid);
    expect(await create(await token({ scope: 'plants:write', tenant: 7 }))).toEqual(invalid);
    expect(await create('no.jwt.at-all')).toEqual(invalid);
    expect(await create(await token({ scope: 'plants:read', tenant: 'garden' }))).toEqual([
      403,
      'Bearer realm="plants", error="insufficient_scope", scope="plants:write"',
    ]);
  });
});

const load = () => import('../../examples/storages/storage-per-tenant.js');
const callerOf = (tenant: string) => ({ tenant });

describe('a storage per tenant under row-level security, through a pool that takes the tenant from AsyncLocalStorage', () => {
  itKeepsThePromises(
    async () => (await load()).underPolicies,
    callerOf,
    (tenant) => ({ from: `plants WHERE tenant = '${tenant}'`, empty: 'TRUNCATE plants' }),
  );

  it('serves plants over HTTP, for the tenant of the token', async () => {
    await own.pool.query('TRUNCATE plants');
    const url = await exampleUrl(load());
    const create = async (bearer: string) =>
      (await createPlant(url, '{"id":1,"name":"Rosa"}', bearer)).status;
    expect([
      await create('garden.secret'),
      await create('park.secret'),
      await create('garden.secret'),
      await create('garden.wrong'),
      await create("x'; --.secret"),
    ]).toEqual([200, 200, 400, 401, 401]);
    const { rows } = await own.pool.query('SELECT tenant FROM plants ORDER BY tenant');
    expect(rows).toEqual([{ tenant: 'garden' }, { tenant: 'park' }]);
  });
});

describe('a storage per tenant in a schema each', () => {
  itKeepsThePromises(
    async () => (await load()).inSchemas,
    callerOf,
    (tenant) => ({ from: `tenant_${tenant}.plants WHERE true`, empty: `TRUNCATE tenant_${tenant}.plants` }),
  );
});

describe('the map of storages', () => {
  it('keeps the storages that were used last, and no more than its bound', async () => {
    const opened: string[] = [];
    const { perTenant } = await load();
    const storage = perTenant((tenant) => {
      opened.push(tenant);
      return memoryStorage();
    }, 2);
    for (const tenant of ['a', 'b', 'a', 'c', 'a', 'b'])
      await storage.create({ id: 1n, name: 'Rosa' }, contextOf({ tenant }));
    expect(opened).toEqual(['a', 'b', 'c', 'b']);
  });

  it('lets the creates of a storage that it drops finish', async () => {
    const { perTenant } = await load();
    let finish = () => {};
    const slow: PlantStorage = {
      create: () =>
        new Promise((resolve) => {
          finish = () => resolve('created');
        }),
    };
    const storage = perTenant((tenant) => (tenant === 'slow' ? slow : memoryStorage()), 1);
    const created = storage.create({ id: 1n, name: 'Rosa' }, contextOf({ tenant: 'slow' }));
    expect(await storage.create({ id: 1n, name: 'Rosa' }, contextOf({ tenant: 'next' }))).toBe('created');
    finish();
    expect(await created).toBe('created');
  });
});
