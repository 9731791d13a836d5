// How long a refused client is served, on a simulated clock: until the timeout of its request, 5 s if that has none.
import { expect, test, vi } from 'vitest';
import { deferred } from '../support/deferred.js';
import { SimulatedTimers } from '../support/timers.js';

const timers = new SimulatedTimers();
timers.install();
const { createPlantStore } = await import('plant-store');
const { memoryStorage } = await import('plant-store/memory');
const { toFetch } = await import('plant-store/fetch');

const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
const chunk = new Uint8Array(200);

/** An upload without end: each chunk takes 100 ms, so that it never stalls. */
function endless() {
  const { promise, resolve } = deferred<number>();
  const next = async () => {
    await timers.clock.advance(100);
    return { done: false, value: chunk };
  };
  const stop = async () => resolve(timers.clock.now());
  return { next, stop: vi.fn(stop), stopped: promise };
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
    const { next, stop, stopped } = endless();
    const iterator = { next, return: stop };
    const body = { pipe() {}, [Symbol.asyncIterator]: () => iterator } as never;
    const handle = createPlantStore(memoryStorage(), () => true, { bodyLimit: 100, timeoutMs });
    expect((await handle({ method: 'POST', url: '/plants', headers, body })).error).toBe(40006);
    expect(Math.abs((await stopped) - expected)).toBeLessThanOrEqual(200);
  },
);

test.each(limits)(
  'with timeoutMs %i, toFetch responds to an invalid token after %i ms',
  async (timeoutMs, expected) => {
    timers.reset();
    const { next, stop } = endless();
    const pull = async (controller: ReadableStreamDefaultController) =>
      controller.enqueue((await next()).value);
    const body = new ReadableStream({ pull, cancel: stop }, { highWaterMark: 0 });
    const fetchPlants = toFetch(createPlantStore(memoryStorage(), () => false, { timeoutMs }));
    const request = new Request('http://x/plants', {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as never);
    const response = (await fetchPlants(request)) as Response;
    expect([response.status, response.headers.get('connection')]).toEqual([401, 'close']);
    expect(Math.abs(timers.clock.now() - expected)).toBeLessThanOrEqual(200);
  },
);
