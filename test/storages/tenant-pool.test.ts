// A pool that takes the tenant of the request from AsyncLocalStorage, as apps with row-level security have one.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { PlantStorage } from 'plant-store';
import { type PostgresOptions, postgresStorage } from 'plant-store/postgres';
import { beforeEach, expect, it } from 'vitest';
import { contextOf } from './context.js';
import { ownServer } from './postgres-server.js';

interface Caller {
  readonly tenant: string;
}

const own = ownServer();
let tables = 0;
let table: string;
beforeEach(async () => {
  table = `plants${tables++}`;
  await own.pool.query(`CREATE TABLE ${table} (id bigint PRIMARY KEY, name text NOT NULL, tag text,
    tenant text NOT NULL DEFAULT current_setting('app.tenant'), UNIQUE (tenant, id))`);
});

/** A storage through a pool that names the tenant to the database: the one that this function returns. */
function open(tenantOf: () => string, options: PostgresOptions<Caller> = {}): PlantStorage<Caller> {
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
}

const request = new AsyncLocalStorage<string>();
const ofRequest = () => request.getStore() ?? '';

/** How an app may keep its tenants apart. */
const ways: Record<string, () => (tenant: string) => PlantStorage<Caller>> = {
  'the option namespace'() {
    const storage = open(ofRequest, { namespace: { tenant: ({ caller }) => caller.tenant } });
    return () => storage;
  },
  'a storage per tenant'() {
    const storages = new Map(['garden', 'park'].map((tenant) => [tenant, open(() => tenant)]));
    return (tenant) => storages.get(tenant)!;
  },
  'maxBatch: 1'() {
    const storage = open(ofRequest, { maxBatch: 1 });
    return () => storage;
  },
};

/** How many of 100 concurrent creates of two tenants were stored for the other. */
async function countWrong(storageOf: (tenant: string) => PlantStorage<Caller>) {
  const creates = Array.from({ length: 100 }, (_, id) => {
    const tenant = id % 2 ? 'garden' : 'park';
    const create = () => storageOf(tenant).create({ id: BigInt(id), name: tenant }, contextOf({ tenant }));
    return request.run(tenant, create);
  });
  expect(new Set(await Promise.all(creates))).toEqual(new Set(['created']));
  const { rows } = await own.pool.query(`SELECT name, tenant FROM ${table}`);
  expect(rows).toHaveLength(100);
  return rows.filter(({ name, tenant }) => name !== tenant).length;
}

it.each(Object.entries(ways))(
  '%s keeps 100 creates of two tenants apart, although the pool asks AsyncLocalStorage for the tenant',
  async (_, storageOf) => expect(await countWrong(storageOf())).toBe(0),
);

it('a batch of two tenants is stored for one of them if only such a pool names the tenant', async () => {
  const storage = open(ofRequest);
  expect(await countWrong(() => storage)).toBeGreaterThan(0);
});
