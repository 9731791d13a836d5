// Thousands of requests of several tenants, through the whole handler into four storages with `namespace` and `refuse`,
// and into an oracle that shares no code with them: a Map. All respond alike, and hold the same plants at the end.
import { PGlite } from '@electric-sql/pglite';
import Database from 'libsql';
import { createPlantStore, guard, type PlantHandler, type PlantStorage, type VerifyToken } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { schemaOf as postgresSchema, postgresStorage } from 'plant-store/postgres';
import { schemaOf as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomOf, seed } from '../support/random.js';

interface Caller {
  readonly tenant: string;
}

const options = {
  namespace: { tenant: ({ caller }: { readonly caller: Caller }) => caller.tenant },
  refuse: (error: unknown) => (/thorny/.test(String(error)) ? 'thorny' : undefined),
};
const constraints =
  ", CONSTRAINT thorny CHECK (name <> 'thorn'), CONSTRAINT secret CHECK (name <> 'secret'))";
const verifyToken: VerifyToken<Caller> = (token) => token !== 'nobody' && { tenant: token };

type Door = (method: 'POST' | 'GET', tenant: string, id: bigint, name: string) => Promise<string>;

/** What the library responds, as text: the handler for POST, a guard for GET. */
function doorOf(storage: PlantStorage<Caller>): Door {
  const json = { 'content-type': 'application/json' };
  const post = createPlantStore(storage, verifyToken, { acceptReplays: true, onError() {} });
  const get = guard(verifyToken, async ({ url }, context) => {
    const plant = await storage.find?.(BigInt(url.slice(1)), context);
    return { status: plant ? 200 : 404, headers: json, body: JSON.stringify(plant?.name ?? null) };
  });
  return async (method, tenant, id, name) => {
    const headers = { authorization: `Bearer ${tenant}`, ...json };
    const [handle, url]: [PlantHandler, string] = method === 'POST' ? [post, '/plants'] : [get, `/${id}`];
    const { status, body } = await handle({ method, url, headers, body: `{"id":${id},"name":"${name}"}` });
    return `${status} ${status === 200 || status === 404 ? body : JSON.parse(body).error}`;
  };
}

/** The same promises, without the library. */
function oracle(): Door {
  const plants = new Map<string, string>();
  return async (method, tenant, id, name) => {
    const stored = plants.get(`${tenant} ${id}`);
    if (tenant === 'nobody') return '401 40102';
    if (method === 'GET') return stored === undefined ? '404 null' : `200 "${stored}"`;
    // A CHECK comes before the id.
    if (name === 'thorn') return '400 40004';
    if (name === 'secret') return '500 50004';
    if (stored !== undefined && stored !== name) return '400 40003';
    plants.set(`${tenant} ${id}`, name);
    return `200 {"name":"${name}"}`;
  };
}

const sqlite = new Database(':memory:');
let pglite: PGlite;
beforeAll(async () => {
  pglite = await PGlite.create();
});
afterAll(async () => {
  await pglite.close();
  sqlite.close();
});

/** The table that `schemaOf` prints, with two constraints. */
const withConstraints = (schema: string) => schema.trim().replace(/\)(?=[^)]*$)/, constraints);

test(`four storages respond alike to 6 000 requests of four tenants, seed ${seed}`, {
  timeout: 300_000,
}, async () => {
  await pglite.exec(withConstraints(postgresSchema({ namespace: options.namespace })));
  sqlite.exec(withConstraints(sqliteSchema({ namespace: options.namespace })));
  const checked: PlantStorage<Caller> = memoryStorage(new Map(), { namespace: options.namespace });
  const doors = {
    oracle: oracle(),
    pglite: doorOf(postgresStorage(pglite, options)),
    sqlite: doorOf(sqliteStorage(sqlite, options)),
  };
  const memory = doorOf(checked);
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const counts = new Map<string, number>();
  for (let turn = 0; turn < 400; turn++) {
    // One turn is one batch. No id twice in it: which of two names wins would be the storage's choice.
    const ids = new Set(Array.from({ length: 15 }, () => BigInt(Math.floor(random() * 600)) - 2n ** 53n));
    const requests = [...ids].map(
      (id) =>
        [
          random() < 0.8 ? 'POST' : 'GET',
          pick(['garden', 'park', 'wood', 'nobody']),
          id,
          pick(['rose', 'rose', 'oak', 'thorn', 'secret']),
        ] as const,
    );
    const [expected, ...others] = await Promise.all(
      Object.values(doors).map((door) => Promise.all(requests.map((request) => door(...request)))),
    );
    for (const responses of others) expect(responses).toEqual(expected);
    for (const response of expected!) {
      const kind = response.slice(0, 9).replace(/ .*"/, '');
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    // A Map has no constraints.
    const unconstrained = requests.map((request, i) => ({ request, response: expected![i] }));
    for (const { request, response } of unconstrained) {
      if (!/4000[4]|50004/.test(response!)) expect(await memory(...request)).toBe(response);
    }
  }
  // The seed has to reach every kind of response, or the test says little.
  for (const kind of ['200', '400 40003', '400 40004', '401 40102', '404', '500 50004']) {
    const reached = [...counts]
      .filter(([key]) => key.startsWith(kind))
      .reduce((sum, [, count]) => sum + count, 0);
    expect(reached, `responses that begin with ${kind}`).toBeGreaterThan(50);
  }
});
