// One timer for the timeouts of all requests of a mount, as toFetch uses it on Deno.
import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { createPlantStore, type PlantStoreOptions } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { fakeAbortSignalTimeout } from '../support/fake-timeouts.js';

let made: MockInstance<typeof AbortSignal.timeout>;
beforeEach(() => {
  vi.useFakeTimers();
  made = fakeAbortSignalTimeout();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Sends creates that time out after a second. `end` ends the last of them. */
function opened(onError: PlantStoreOptions['onError'] = () => {}) {
  const ends: ((outcome: 'created') => void)[] = [];
  const create = () => new Promise<'created'>((resolve) => ends.push(resolve));
  const fetch = toFetch(createPlantStore({ create }, () => true, { timeoutMs: 1000, onError }));
  const send = async (name = '') => {
    const headers = { authorization: 'Bearer any', 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: '{"id":1,"name":"Ilex"}' };
    return (await fetch(new Request(`http://localhost/plants?${name}`, init), { remoteAddr: {} })).status;
  };
  return { send, end: () => ends.pop()!('created') };
}

test('each request times out at its own time, also after the timer has expired, and no timer remains', async () => {
  const { send, end } = opened();
  const ended: [name: string, status: number, at: number][] = [];
  const begun = Date.now();
  const start = async (name: string) => ended.push([name, await send(name), Date.now() - begun]);
  start('first');
  await vi.advanceTimersByTimeAsync(300);
  start('created');
  await vi.advanceTimersByTimeAsync(0);
  end();
  start('second');
  await vi.advanceTimersByTimeAsync(300);
  start('third');
  await vi.advanceTimersByTimeAsync(5000);
  start('fourth');
  await vi.advanceTimersByTimeAsync(5000);
  expect(ended).toEqual([
    ['created', 200, 300],
    ['first', 503, 1000],
    ['second', 503, 1300],
    ['third', 503, 1600],
    ['fourth', 503, 6600],
  ]);
  expect(vi.getTimerCount()).toBe(0);
});

test('the timer keeps the process alive, by a listener, only while a request waits', async () => {
  const { send, end } = opened();
  const listeners = () => getEventListeners(made.mock.results[0]!.value, 'abort').length;
  for (let round = 0; round < 2; round++) {
    const sent = Array.from({ length: 1000 }, () => send());
    await vi.advanceTimersByTimeAsync(0);
    expect(listeners()).toBe(1);
    for (const _ of sent) end();
    await Promise.all(sent);
    expect(listeners()).toBe(0);
  }
});

test('a timer that fires early waits on', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const onTimeout = vi.fn();
  opened(onTimeout).send();
  await vi.advanceTimersByTimeAsync(0);
  now.mockReturnValue(999.5);
  await vi.advanceTimersByTimeAsync(1000);
  expect(onTimeout).not.toHaveBeenCalled();
  now.mockReturnValue(1000);
  await vi.advanceTimersByTimeAsync(1);
  expect(onTimeout).toHaveBeenCalledTimes(1);
});

test('onError of a timed-out request runs in the AsyncLocalStorage of its own request', async () => {
  const local = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const { send } = opened((_error, { url }) => void seen.push([new URL(url).search, local.getStore()]));
  const names = Array.from({ length: 10 }, (_, i) => `${i}`);
  const sent = names.map((name) => local.run(`?${name}`, () => send(name)));
  await vi.advanceTimersByTimeAsync(1000);
  await Promise.all(sent);
  expect(seen).toEqual(names.map((name) => [`?${name}`, `?${name}`]));
});
