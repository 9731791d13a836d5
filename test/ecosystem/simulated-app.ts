// An instance of an app with examples/around/metrics.ts whose database, pool and issuer behave as a test says, on its clock: the test
// loads this file once for each instance.
import { acceptTokens, type CreateMany, createPlantStore, groupCommit, type VerifyToken } from 'plant-store';
import { register } from 'prom-client';
import { measure, onBatch, watchPool, watchStorage, watchVerifier } from '../../examples/around/metrics.js';

const timeoutMs = 10_000;

/** What the test changes. */
export const world = {
  createMany: (async (plants) => plants.map(() => 'created' as const)) as CreateMany<unknown>,
  verify: acceptTokens('secret') as VerifyToken<true>,
};
export const pool = { totalCount: 2, idleCount: 2, waitingCount: 0 };

const storage = groupCommit((...args) => world.createMany(...args), {
  timeoutMs,
  onBatch,
  onStatus: () => {},
});
watchStorage(storage, 10_000, timeoutMs);
watchPool(pool, 10);
const verifyToken = watchVerifier<true>((...args) => world.verify(...args));
const handle = measure(createPlantStore(storage, verifyToken, { onError: () => {} }));

/** Creates a plant, and returns the code of the response: 0 if it is created. */
export async function create(id: number): Promise<number> {
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  const { error = 0 } = await handle({
    method: 'POST',
    url: '/plants',
    headers,
    body: `{"id":${id},"name":"plant"}`,
  });
  return error;
}

// Those of this instance: the registry is shared by all that a test loads. Without those of Node, and of the sizes of batches, which are in
// no rule.
const metrics = register
  .getMetricsAsArray()
  .filter(({ name }) => name.startsWith('plant_store_') && !/_batch_/.test(name));
register.clear();

/** What Prometheus would scrape: the values by series, without the instance. */
export async function scrape(): Promise<Map<string, number>> {
  const values = new Map<string, number>();
  for (const metric of metrics) {
    const read = await (metric as unknown as Metric).get();
    for (const { metricName = read.name, labels, value } of read.values) {
      if (metricName.endsWith('_bucket')) continue;
      const named = Object.entries(labels).map(([name, label]) => `,${name}="${label}"`);
      values.set(`${metricName}{${named.join('')}`, value);
    }
  }
  return values;
}

interface Metric {
  get(): Promise<{
    readonly name: string;
    readonly values: readonly {
      readonly metricName?: string;
      readonly labels: Readonly<Record<string, string | number>>;
      readonly value: number;
    }[];
  }>;
}
