// A pool that takes the tenant of the request from AsyncLocalStorage, as apps with row-level security have one.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { PlantStorage, StorageContext } from 'plant-store';
import { expect, it } from 'vitest';
import { contextOf } from './context.js';

interface Caller {
  readonly tenant: string;
}

interface Options {
  readonly namespace?: { readonly tenant: (context: StorageContext<Caller>) => string };
  readonly maxBatch?: number;
}

export interface TenantDatabase {
  /** A storage through a pool that names the tenant to the database: the one that this function returns. */
  open(tenantOf: () => string, options?: Options): PlantStorage<Caller>;
  /** The name of each plant, which is its tenant, and the tenant that the database stored it for. */
  rows(): Promise<readonly { readonly name: string; readonly tenant: string }[]>;
}

const request = new AsyncLocalStorage<string>();
const ofRequest = () => request.getStore() ?? '';

/** How an app may keep its tenants apart. */
const ways: Record<string, (database: TenantDatabase) => (tenant: string) => PlantStorage<Caller>> = {
  'the option namespace'({ open }) {
    const storage = open(ofRequest, { namespace: { tenant: ({ caller }) => caller.tenant } });
    return () => storage;
  },
  'a storage per tenant'({ open }) {
    const storages = new Map(['garden', 'park'].map((tenant) => [tenant, open(() => tenant)]));
    return (tenant) => storages.get(tenant)!;
  },
  'maxBatch: 1'({ open }) {
    const storage = open(ofRequest, { maxBatch: 1 });
    return () => storage;
  },
};

/** How many of 100 concurrent creates of two tenants were stored for the other. */
async function countWrong(database: TenantDatabase, storageOf: (tenant: string) => PlantStorage<Caller>) {
  const creates = Array.from({ length: 100 }, (_, id) => {
    const tenant = id % 2 ? 'garden' : 'park';
    const create = () => storageOf(tenant).create({ id: BigInt(id), name: tenant }, contextOf({ tenant }));
    return request.run(tenant, create);
  });
  expect(new Set(await Promise.all(creates))).toEqual(new Set(['created']));
  const rows = await database.rows();
  expect(rows).toHaveLength(100);
  return rows.filter(({ name, tenant }) => name !== tenant).length;
}

export function itKeepsTenantsOfAPool(database: () => Promise<TenantDatabase>): void {
  it.each(Object.entries(ways))(
    '%s keeps 100 creates of two tenants apart, although the pool asks AsyncLocalStorage for the tenant',
    async (_, storageOf) => {
      const opened = await database();
      expect(await countWrong(opened, storageOf(opened))).toBe(0);
    },
  );

  it('a batch of two tenants is stored for one of them if only such a pool names the tenant', async () => {
    const opened = await database();
    const storage = opened.open(ofRequest);
    expect(await countWrong(opened, () => storage)).toBeGreaterThan(0);
  });
}
