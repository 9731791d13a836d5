// How long a refused client is served, on a simulated clock: until the timeout of its request, 5 s if that has none.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { deferred } from '../support/deferred.js';
import { listen, raw, Wire } from '../support/sockets.js';
import { SimulatedTimers } from '../support/timers.js';

const timers = new SimulatedTimers();
timers.install();
const { createPlantStore } = await import('plant-store');
const { memoryStorage } = await import('plant-store/memory');
const { toFetch } = await import('plant-store/fetch');
const { toNode } = await import('plant-store/node');
const { protocols } = await import('../hosts/node/server.js');

const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
const chunk = new Uint8Array(200);

/** An upload without end, as a stream of Node: each chunk takes 100 ms, so that it never stalls. */
function endless() {
  const { promise, resolve } = deferred<number>();
  const next = async () => {
    await timers.clock.advance(100);
    return { done: false, value: chunk };
  };
  const stop = async () => resolve(timers.clock.now());
  const body = { pipe() {}, [Symbol.asyncIterator]: () => ({ next, return: stop }) } as never;
  return { body, next, stop, stopped: promise };
}

const limits: [timeoutMs: number, expected: number][] = [
  [0, 5_000],
  [700, 700],
  [30_000, 30_000],
];

test.each(limits)(
  'with timeoutMs %i, a body that is too large is drained for %i ms',
  async (timeoutMs, expected) => {
    timers.reset();
    const { body, stopped } = endless();
    const handle = createPlantStore(memoryStorage(), () => true, { bodyLimit: 100, timeoutMs });
    expect((await handle({ method: 'POST', url: '/plants', headers, body })).error).toBe(40006);
    expect(Math.abs((await stopped) - expected)).toBeLessThanOrEqual(200);
  },
);

test('a body that is still coming when its request times out is drained for 500 ms more, while the response is sent', async () => {
  timers.reset();
  const { body, stopped } = endless();
  const handle = createPlantStore(memoryStorage(), () => true, { timeoutMs: 700 });
  expect((await handle({ method: 'POST', url: '/plants', headers, body })).error).toBe(40007);
  expect(Math.abs((await stopped) - 1_200)).toBeLessThanOrEqual(200);
});

/** How long the client of a rejected token is served: 500 ms until its response, and at least 500 more. */
const served = (expected: number) => Math.max(expected, 1_000);

test.each(limits)(
  'with timeoutMs %i, toFetch responds to an invalid token after 500 ms, and drains the body until %i ms have passed, or 500 more',
  async (timeoutMs, expected) => {
    timers.reset();
    const { next, stop, stopped } = endless();
    const pull = async (controller: ReadableStreamDefaultController) =>
      controller.enqueue((await next()).value);
    const body = new ReadableStream({ pull, cancel: stop }, { highWaterMark: 0 });
    const fetchPlants = toFetch(createPlantStore(memoryStorage(), () => false, { timeoutMs }));
    const init = { method: 'POST', headers, body, duplex: 'half' };
    const request = new Request('http://x/plants', init as never);
    const response = (await fetchPlants(request)) as Response;
    expect([response.status, response.headers.get('connection')]).toEqual([401, 'close']);
    expect(Math.abs(timers.clock.now() - 500)).toBeLessThanOrEqual(200);
    await response.text();
    expect(Math.abs((await stopped) - served(expected))).toBeLessThanOrEqual(200);
  },
);

test.each(limits)(
  'with timeoutMs %i, toNode responds to a client with an invalid token that sends a byte now and then after 500 ms, and cuts it off after %i ms, or 500 more',
  async (timeoutMs, expected) => {
    timers.reset();
    const sockets: Socket[] = [];
    const listener = toNode(createPlantStore(memoryStorage(), () => false, { timeoutMs }));
    let respondedAt = Number.NaN;
    const server = createServer((request, response) => {
      response.on('finish', () => {
        respondedAt = timers.clock.now();
      });
      listener(request, response);
    }).on('connection', (socket) => void sockets.push(socket));
    const { port, close } = await listen(server);
    const wire = await Wire.open(port);
    const requested = once(server, 'request');
    await wire.write(raw(['Authorization: Bearer x', 'Content-Length: 100000']));
    await requested;
    const [socket] = sockets;
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    while (!socket!.destroyed && timers.clock.now() < 60_000) {
      const before = socket!.bytesRead;
      await wire.write(' ');
      while (socket!.bytesRead === before && !socket!.destroyed) await turn();
      await turn();
      await timers.clock.advance(100);
    }
    expect((await wire.answer()).status).toBe(401);
    expect(Math.abs(respondedAt - 500)).toBeLessThanOrEqual(200);
    expect(Math.abs(timers.clock.now() - served(expected))).toBeLessThanOrEqual(200);
    wire.destroy();
    await close();
  },
);

test('toNode closes the connection of a client that asked for it, once its upload has ended after the response', async () => {
  timers.reset();
  const listener = toNode(createPlantStore(memoryStorage(), () => false));
  let isResponded = false;
  const server = createServer((request, response) => {
    response.on('finish', () => {
      isResponded = true;
    });
    listener(request, response);
  });
  const connected = once(server, 'connection');
  const { port, close } = await listen(server);
  // It keeps its own side open.
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
  client.write(raw(['Authorization: Bearer x', 'Content-Length: 1', 'Connection: close']));
  const [socket] = (await connected) as [Socket];
  while (!isResponded) {
    await new Promise((resolve) => setImmediate(resolve));
    await timers.clock.advance(100);
  }
  expect(socket.destroyed).toBe(false);
  client.write(' ');
  await once(socket, 'close');
  client.destroy();
  await close();
});

test.each([
  ['HTTP/1', protocols[0]!],
  ['HTTP/2', protocols[1]!],
])('over %s, toNode waits for nothing after a rejected request whose body has come', async (_, protocol) => {
  timers.reset();
  const [, serve, begin] = protocol;
  const { port, close } = await listen(
    serve(toNode(createPlantStore(memoryStorage(), () => false, { timeoutMs: 0 }))),
  );
  const sender = await begin(port, 20);
  await sender.write(' '.repeat(20), true);
  expect(await sender.text()).toContain('40102');
  expect(timers.count).toBe(0);
  await close();
});
