// Each call runs in the AsyncLocalStorage, and so in the trace, of the create that opened its batch.
import { createServer } from 'node:http';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { schema } from 'plant-store/postgres';
import { expect, it, onTestFinished } from 'vitest';
import { ownServer } from '../../storages/postgres-server.js';
import { load, watchContexts } from '../../support/contexts.js';
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
const [rounds, enough] = isHeavy ? [5, 1_000] : [2, 100];

it.each(named(mounts))(
  'a batch on %s runs in the AsyncLocalStorage of the create that opened it, if it is slow, rolled back, rejected or retried',
  async (_, { basePath = '', start }) => {
    const { requests, seen, batches } = watchContexts();
    const handle = createPlantStore(batches, acceptTokens('secret'), { basePath, onError() {} });
    const before: Before = ({ headers }, _response, next) => requests.run(String(headers.id), next);
    const running = await start(handle, { before });
    onTestFinished(() => running.close());
    for (let first = 1_000; seen.calls < 7 * rounds || seen.checks < enough; first += 1_000)
      await load(running.url, first);
    expect(seen.strays).toEqual([]);
  },
);

const database = ownServer();

it('a query of a driver, and refuse, run in the AsyncLocalStorage of the create that opened their batch', async () => {
  await database.pool.query(`${schema}; ALTER TABLE plants ADD CHECK (name <> 'bad')`);
  const { requests, seen, postgres } = watchContexts();
  const driver = { query: (text: string, values?: unknown[]) => database.pool.query(text, values) };
  const mounted = toNode(createPlantStore(postgres(driver), acceptTokens('secret')));
  const running = await listen(
    createServer((request, response) => requests.run(String(request.headers.id), mounted, request, response)),
  );
  onTestFinished(() => running.close());
  for (let first = 1_000; seen.checks < enough / 5; first += 1_000) await load(running.url, first);
  expect(seen.strays).toEqual([]);
});
