// One timer for the timeouts of all requests of a mount, as toFetch uses it on Deno.
import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { SharedTimer } from '../../adapters/hosts/_shared-timer.js';
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

test('a shared timer lets each timeout expire at its own time', async () => {
  const timer = new SharedTimer();
  const expired: [name: string, at: number][] = [];
  const begun = Date.now();
  const start = (name: string) => timer.start(() => expired.push([name, Date.now() - begun]), 1000);
  start('first');
  await vi.advanceTimersByTimeAsync(300);
  start('second');
  const cancel = start('cancelled');
  await vi.advanceTimersByTimeAsync(300);
  start('third');
  cancel();
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(5000);
  expect(expired).toEqual([
    ['first', 1000],
    ['second', 1300],
    ['third', 1600],
  ]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a shared timer keeps the process alive, by a listener, only while a request waits', () => {
  const timer = new SharedTimer();
  const startThousand = () => Array.from({ length: 1000 }, () => timer.start(() => {}, 1000));
  const listeners = () => getEventListeners(made.mock.results[0]!.value, 'abort').length;
  const first = startThousand();
  const last = first.pop()!;
  for (const cancel of first) cancel();
  expect(listeners()).toBe(1);
  last();
  expect(listeners()).toBe(0);
  const second = startThousand();
  expect(listeners()).toBe(1);
  for (const cancel of second) cancel();
  expect(made).toHaveBeenCalledTimes(1);
});

test('a shared timer that fires early waits on', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const onTimeout = vi.fn();
  new SharedTimer().start(onTimeout, 1000);
  now.mockReturnValue(999.5);
  await vi.advanceTimersByTimeAsync(1000);
  expect(onTimeout).not.toHaveBeenCalled();
  now.mockReturnValue(1000);
  await vi.advanceTimersByTimeAsync(1);
  expect(onTimeout).toHaveBeenCalledTimes(1);
});

test('a shared timer starts anew after it has expired', async () => {
  const timer = new SharedTimer();
  timer.start(() => {}, 1000);
  await vi.advanceTimersByTimeAsync(1000);
  expect(vi.getTimerCount()).toBe(0);
  timer.start(() => {}, 1000)();
  await vi.advanceTimersByTimeAsync(1000);
  const onTimeout = vi.fn();
  timer.start(onTimeout, 1000);
  await vi.advanceTimersByTimeAsync(1000);
  expect(onTimeout).toHaveBeenCalledTimes(1);
});

const request = (url = 'http://localhost/plants') =>
  new Request(url, {
    method: 'POST',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
    body: '{"id":1,"name":"Ilex"}',
  });

test('toFetch shares a timer on Deno alone', async () => {
  const options = { timeoutMs: 1000, onError() {} };
  const fetch = toFetch(createPlantStore({ create: () => new Promise(() => {}) }, () => true, options));
  const timersFor = async (server: unknown) => {
    made.mockClear();
    const responses = [1, 2, 3].map(() => fetch(request(), server));
    await vi.advanceTimersByTimeAsync(1000);
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([503, 503, 503]);
    return made.mock.calls.length;
  };
  expect(await timersFor({ requestIP() {} })).toBe(0);
  expect(await timersFor({ remoteAddr: {} })).toBe(1);
});

test('onError of a timed-out request runs in the AsyncLocalStorage of its own request', async () => {
  const local = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const store = createPlantStore({ create: () => new Promise(() => {}) }, () => true, {
    timeoutMs: 1000,
    onError: (_error, { url }) => void seen.push([new URL(url).search, local.getStore()]),
  });
  const fetch = toFetch(store);
  const queries = Array.from({ length: 10 }, (_, i) => `?${i}`);
  const responses = queries.map((query) =>
    local.run(query, () => fetch(request(`http://localhost/plants${query}`), { remoteAddr: {} })),
  );
  await vi.advanceTimersByTimeAsync(1000);
  await Promise.all(responses);
  expect(seen).toEqual(queries.map((query) => [query, query]));
});
