/** An app's own tests may put fake timers in place of the real ones, as `jest.useFakeTimers()` does, and never move them. */
import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listen, type Running, raw, Wire } from '../../support/sockets.js';
import { appHosts } from '../hosts.js';
import { json, rose, roseCreated, token } from '../node/server.js';

/** The library, loaded anew: it keeps what is global when it loads. */
async function load() {
  vi.resetModules();
  const { toRoute: toExpressRoute } = await import('plant-store/express');
  const { toRoute: toKoaRoute } = await import('plant-store/koa');
  return {
    ...{ toExpressRoute, toKoaRoute },
    ...(await import('plant-store')),
    ...(await import('plant-store/express')),
    ...(await import('plant-store/fastify')),
    ...(await import('plant-store/fetch')),
    ...(await import('plant-store/koa')),
    ...(await import('plant-store/memory')),
    ...(await import('plant-store/node')),
  };
}

const apps = appHosts.filter(({ name }) => !/Express 4|Koa 2/.test(name));

function fakeTimers(when: string): void {
  vi.useFakeTimers({
    toFake: [
      'setImmediate',
      'setTimeout',
      'setInterval',
      'clearTimeout',
      'clearImmediate',
      'performance',
      'Date',
      'queueMicrotask',
    ],
  });
  // As in Jest, whose `process` is a copy: Node's own streams need the real one.
  vi.stubGlobal('process', Object.create(process, { nextTick: { value() {}, writable: true } }));
  // As `node:test` from Node 24 on, after the library was loaded.
  if (when === 'after')
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
  // As in a jsdom whose setup defines MessageChannel alone.
  vi.stubGlobal('MessagePort', undefined);
  onTestFinished(realTimers);
}

function realTimers(): void {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
}

async function wiresTo(running: Running, count: number): Promise<Wire[]> {
  onTestFinished(running.close);
  const wires: Wire[] = [];
  for (let i = 0; i < count; i++) {
    const wire = await Wire.open(running.port);
    onTestFinished(() => wire.destroy());
    wires.push(wire);
  }
  return wires;
}

describe.each(['before', 'after'])('when timers were faked %s the library was loaded', (when) => {
  const started = async () => {
    if (when === 'before') fakeTimers(when);
    const adapters = await load();
    // The frameworks need real timers to start.
    if (when === 'before') realTimers();
    const own = () => ({ status: 200, body: 'the app' });
    const opened: Wire[][] = [];
    for (const { start } of apps) {
      const storage = adapters.groupCommit(async (plants) => plants.map(() => 'created' as const));
      const handle = adapters.createPlantStore(storage, adapters.acceptTokens('good'));
      opened.push(await wiresTo(await start(handle, { own, adapters }), 3));
    }
    fakeTimers(when);
    return opened;
  };

  test("every host, on a storage that commits in groups, responds to creates, to rejected requests and to the app's own routes", async () => {
    await Promise.all(
      (await started()).map(async (wires) => {
        const [wire, closing, stalled] = wires as [Wire, Wire, Wire];
        for (let i = 0; i < 3; i++) {
          // The body comes in a packet of its own.
          await wire.write(raw([token, json, `Content-Length: ${rose.length}`]));
          await wire.write(rose);
          expect(await wire.answer()).toMatchObject(roseCreated);
        }
        for (const method of ['GET', 'POST']) {
          await wire.write(raw([], '', { line: `${method} /others HTTP/1.1` }));
          expect((await wire.answer()).text).toBe('the app');
        }
        await wire.write(raw(['Authorization: Bearer bad', json], rose));
        expect((await wire.answer()).status).toBe(401);
        await closing.write(raw(['Connection: close', json, 'Content-Length: 300000'], 'x'.repeat(300_000)));
        expect((await closing.answer()).status).toBe(401);
        // It gets its response once it has made no progress for 500 ms.
        await stalled.write(raw(['Connection: close', 'Content-Length: 1000']));
        expect((await stalled.answer()).status).toBe(401);
      }),
    );
  });
});

test('what the app throws when a request was passed on to it is an uncaught exception of the app', async () => {
  const { acceptTokens, createPlantStore, memoryStorage, toNode } = await load();
  const plants = toNode(createPlantStore(memoryStorage(), acceptTokens('good')));
  const error = new Error('of the app');
  const thrown = new Promise((resolve) => {
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').once('uncaughtException', resolve);
    onTestFinished(() => listeners.forEach((listener) => void process.on('uncaughtException', listener)));
  });
  const server = createServer((request, response) =>
    plants(request, response, () => {
      throw error;
    }),
  );
  const [wire] = await wiresTo(await listen(server), 1);
  await wire!.write(raw([token, json], rose, { line: 'POST /others HTTP/1.1' }));
  expect(await thrown).toBe(error);
});
