// Each call runs in the AsyncLocalStorage, and so in the trace, of the create that opened its batch.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { acceptTokens, createPlantStore, groupCommit, type NewPlant, RolledBack } from 'plant-store';
import { toNode } from 'plant-store/node';
import { postgresStorage, schema } from 'plant-store/postgres';
import { expect, it, onTestFinished } from 'vitest';
import { ownServer } from '../../storages/postgres-server.js';
import { isHeavy } from '../../support/heavy.js';
import { listen } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { type Before, hostNamed, oneOfEachAdapter } from '../hosts.js';

/** A row for each adapter, with a middleware of the app that knows the request's id. */
const mounts = [
  hostNamed('node:http with a next'),
  ...oneOfEachAdapter.filter(({ name }) => !/^node:/.test(name)),
];

/** How often each kind of batch comes at least, and how often its context is looked at. */
const [rounds, enough] = isHeavy ? [7, 10_000] : [2, 100];

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Sends 100 creates by 40 clients, then ten lone ones. One in 40 has a name that the database rejects. */
async function load(url: string, first: number): Promise<void> {
  let last = first;
  const send = async () => {
    const id = String(++last);
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/json', id };
    const body = `{"id":${id},"name":"${last % 40 === 0 ? 'bad' : 'Rosa canina'}"}`;
    await (await fetch(`${url}/plants`, { method: 'POST', headers, body })).text();
  };
  const client = async () => {
    while (last < first + 100) await send();
  };
  await Promise.all(Array.from({ length: 40 }, client));
  for (let i = 0; i < 10; i++) await send();
}

/** Looks at the contexts of calls. */
function watch() {
  const requests = new AsyncLocalStorage<string>();
  /** What was in a call before: a part of a rejected batch may be without the create that opened it. */
  const called = new Set<unknown>();
  const strays: string[] = [];
  const seen = { checks: 0, strays };
  /** Notes a call with these creates that runs in the context of none of them, or of none that came before its parts. */
  const check = (ids: readonly unknown[]) => {
    seen.checks++;
    const id = requests.getStore();
    const isPart = ids.every((one) => called.has(`${one}`));
    for (const one of ids) called.add(`${one}`);
    if (!id || !(isPart ? called.has(id) : ids.map(String).includes(id))) strays.push(`${id} in ${ids}`);
  };
  return { requests, check, seen };
}

it.each(named(mounts))(
  'a batch on %s runs in the AsyncLocalStorage of the create that opened it, if it is slow, rolled back, rejected or retried',
  async (_, { basePath = '', start }) => {
    const { requests, check, seen } = watch();
    let calls = 0;
    const storage = groupCommit<true>(async (plants) => {
      const ids = plants.map(({ id }) => id);
      const kind = calls++ % 7;
      for (let i = 0; i < 4; i++) {
        check(ids);
        await turn();
      }
      if (kind === 1) await new Promise((resolve) => setTimeout(resolve, 2));
      check(ids);
      if (kind === 2) throw new RolledBack('together', new Error('deadlock'));
      if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('apart', new Error('a CHECK'));
      return plants.map(() => 'created' as const);
    });
    const handle = createPlantStore(storage, acceptTokens('secret'), { basePath, onError() {} });
    const before: Before = ({ headers }, _response, next) => requests.run(String(headers.id), next);
    const running = await start(handle, { before });
    onTestFinished(() => running.close());
    for (let first = 1_000; calls < 7 * rounds || seen.checks < enough; first += 1_000)
      await load(running.url, first);
    expect(seen.strays).toEqual([]);
  },
);

const database = ownServer();

it('a query of a driver, and refuse, run in the AsyncLocalStorage of the create that opened their batch', async () => {
  await database.pool.query(`${schema}; ALTER TABLE plants ADD CHECK (name <> 'bad')`);
  const { requests, check, seen } = watch();
  const driver = {
    async query(text: string, values: unknown[] = []) {
      const isInsert = text.startsWith('INSERT');
      if (isInsert) check(values.flat());
      try {
        return await database.pool.query(text, values);
      } finally {
        if (isInsert) check(values.flat());
      }
    },
  };
  const refuse = (_error: unknown, { id }: NewPlant) => {
    check([id]);
    return 'no';
  };
  const mounted = toNode(createPlantStore(postgresStorage(driver, { refuse }), acceptTokens('secret')));
  const running = await listen(
    createServer((request, response) => requests.run(String(request.headers.id), mounted, request, response)),
  );
  onTestFinished(() => running.close());
  for (let first = 1_000; seen.checks < enough / 5; first += 1_000) await load(running.url, first);
  expect(seen.strays).toEqual([]);
});
