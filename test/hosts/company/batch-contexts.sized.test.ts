// Each call runs in the AsyncLocalStorage, and so in the trace, of the create that opened its batch.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { acceptTokens, createPlantStore, groupCommit, RolledBack } from 'plant-store';
import { toNode } from 'plant-store/node';
import { postgresStorage, schema } from 'plant-store/postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isHeavy } from '../../support/heavy.js';
import { openPglite } from '../../support/pglite.js';
import { listen } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { appHosts, type Before, hostNamed } from '../hosts.js';

/** A row for each adapter, with a middleware of the app that knows the request's id. */
const mounts = [
  ...appHosts.filter(({ name }) => !/Express 4|Koa 2/.test(name)),
  { ...hostNamed('Hono, by route'), name: 'Hono' },
];

const enough = isHeavy ? 10_000 : 200;

const turn = () => new Promise((resolve) => setImmediate(resolve));
const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };

/** Sends `count` creates, `clients` at a time, then lone ones. One in 40 has a name that the database rejects. */
async function load(url: string, count: number, clients = 40, first = 0): Promise<void> {
  let next = 0;
  const client = async () => {
    while (next < count) {
      const id = String(first + ++next);
      const name = next % 40 === 0 ? 'bad' : 'Rosa canina';
      const body = `{"id":${id},"name":"${name}"}`;
      const response = await fetch(`${url}/plants`, { method: 'POST', headers: { ...headers, id }, body });
      await response.text();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  if (clients > 1) await load(url, 10, 1, first + count);
}

describe.each(named(mounts))('a batch on %s', (_, { basePath = '', start }) => {
  it('runs in the AsyncLocalStorage of the create that opened it, if it is slow, rolled back, rejected or retried', async () => {
    const requests = new AsyncLocalStorage<string>();
    let checks = 0;
    const strays: string[] = [];
    let calls = 0;
    /** Creates that were in a call: a part of a rejected batch may be without the one that opened it. */
    const called = new Set<string>();
    const storage = groupCommit<true>(async (plants) => {
      const ids = plants.map(({ id }) => String(id));
      const check = () => {
        checks++;
        const id = requests.getStore();
        if (!id || !(ids.includes(id) || called.has(id))) strays.push(`${id} in ${ids}`);
      };
      const isFirst = ids.some((id) => !called.has(id));
      if (isFirst && !ids.includes(requests.getStore() ?? '')) strays.push(`a new batch of ${ids}`);
      for (const id of ids) called.add(id);
      const kind = calls++ % 7;
      for (let i = 0; i < 4; i++) {
        check();
        await turn();
      }
      if (kind === 1) await new Promise((resolve) => setTimeout(resolve, 2));
      check();
      if (kind === 2) throw new RolledBack('together', new Error('deadlock'));
      if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('apart', new Error('a CHECK'));
      return plants.map(() => 'created' as const);
    });
    const handle = createPlantStore(storage, acceptTokens('secret'), { basePath, onError() {} });
    const before: Before = ({ headers }, _response, next) => requests.run(String(headers.id), next);
    const running = await start(handle, { before });
    onTestFinished(() => running.close());
    // Each kind of batch comes seven times at least.
    while (calls < 49 || checks < enough) await load(running.url, 100);
    expect(strays).toEqual([]);
  });
});

it('a query of a driver, and refuse, run in the AsyncLocalStorage of the create that opened their batch', async () => {
  const database = await openPglite();
  onTestFinished(() => database.close());
  await database.exec(`${schema}; ALTER TABLE plants ADD CHECK (name <> 'bad')`);
  const requests = new AsyncLocalStorage<string>();
  let checks = 0;
  const strays: string[] = [];
  const called = new Set<string>();
  const check = (ids: readonly unknown[]) => {
    checks++;
    for (const id of ids) called.add(String(id));
    const id = requests.getStore();
    if (!id || !called.has(id)) strays.push(`${id} in ${ids}`);
  };
  const driver = {
    async query<Row>(text: string, values: unknown[] = []) {
      const isInsert = text.startsWith('INSERT');
      if (isInsert) check(values.flat());
      try {
        return await database.query<Row>(text, values);
      } finally {
        if (isInsert) check(values.flat());
      }
    },
  };
  const refuse = (_error: unknown, { id }: { id: bigint }) => {
    check([id]);
    return 'no';
  };
  const handle = createPlantStore(postgresStorage(driver, { refuse }), acceptTokens('secret'));
  const mounted = toNode(handle);
  const running = await listen(
    createServer((request, response) => requests.run(String(request.headers.id), mounted, request, response)),
  );
  onTestFinished(() => running.close());
  for (let first = 1_000; checks < enough / 5; first += 1_000) await load(running.url, 100, 40, first);
  expect(strays).toEqual([]);
});
