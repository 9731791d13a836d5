// Clients that disconnect in waves. No call, no socket and no timer remains of them. With `npm run test:heavy` four thousand
// disconnect from each adapter, and a wave from every mount.
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { acceptTokens, createPlantStore, type PlantHandler, type PlantStorage } from 'plant-store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deferred } from '../../support/deferred.js';
import { isHeavy } from '../../support/heavy.js';
import { rose } from '../../support/plants.js';
import { named } from '../../support/titled.js';
import { waitFor } from '../../support/wait-for.js';
import { oneOfEachAdapter } from '../hosts.js';
import { beginUpload } from './begin-upload.js';

/** How many clients are connected at the same time. */
const wave = isHeavy ? 250 : 90;

/** How far a client is when it disconnects: within its body, before its response, within a body that is refused. */
const moments = [
  { token: 'secret', length: 1000 },
  { token: 'secret', length: rose.length },
  { token: 'bad', length: 1000 },
] as const;

/** A client that stops at this moment. The function returned disconnects it. */
function connected(url: string, { token, length }: (typeof moments)[number], isReset: boolean): () => void {
  const { stream, write } = beginUpload(url, { token, length });
  write(Buffer.from(rose));
  if (url.startsWith('h2c:') && length === rose.length) stream.end();
  // TLS cannot be reset.
  return () =>
    void (isReset && url.startsWith('http:') ? (stream as Socket).resetAndDestroy() : stream.destroy());
}

const unhandled: unknown[] = [];
const onUnhandled = (error: unknown) => void unhandled.push(error);
beforeAll(() => void process.on('unhandledRejection', onUnhandled).on('uncaughtException', onUnhandled));
afterAll(() => void process.off('unhandledRejection', onUnhandled).off('uncaughtException', onUnhandled));

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
const timersBefore = timers();
const all = isHeavy ? (await import('../../ecosystem/hosts.js')).everyHost : oneOfEachAdapter;

// Side by side, because each host waits for its drains; but alone where thousands of clients keep the machine busy.
const each = isHeavy ? test.each(named(all)) : test.concurrent.each(named(all));
each('no call and no socket remains of clients that disconnect from %s', async (_, host) => {
  const clients = isHeavy && oneOfEachAdapter.includes(host) ? 4_000 : wave;
  const count = { begun: 0, pending: 0, creating: 0, open: 0 };
  let gate = deferred();
  const storage: PlantStorage = {
    async create() {
      count.creating++;
      await gate.promise;
      return 'created';
    },
  };
  const { basePath, start } = host;
  const handle = createPlantStore(storage, acceptTokens('secret'), { basePath, onError: onUnhandled });
  const counted: PlantHandler = (request) => {
    count.begun++;
    count.pending++;
    return handle(request).finally(() => count.pending--);
  };
  const { url, server, close } = await start(counted);
  server.on('connection', (socket: Socket) => {
    count.open++;
    socket.on('close', () => count.open--);
  });
  const kinds = Array.from({ length: wave }, (_, i) => moments[i % moments.length]!);
  const complete = kinds.filter(({ length }) => length === rose.length).length;
  for (let waves = 1; waves * wave <= clients; waves++) {
    gate = deferred();
    const disconnects = kinds.map((kind, i) => connected(url, kind, i % 2 === 0));
    await waitFor(() => expect(count).toMatchObject({ begun: waves * wave, creating: waves * complete }));
    for (const disconnect of disconnects) disconnect();
    gate.resolve();
    await waitFor(() => expect(count).toMatchObject({ open: 0, pending: 0 }));
  }
  await close();
});

test('no timer remains of them, and nothing was unhandled', async () => {
  expect(unhandled).toEqual([]);
  // The drain of a refused upload waits half a second for more of it.
  while (timers() > timersBefore) await setTimeout(50);
});
