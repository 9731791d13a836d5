import { AsyncLocalStorage } from 'node:async_hooks';
import {
  createPlantStore,
  type PlantRequest,
  type PlantStorage,
  type PlantStoreOptions,
  type Signal,
  type StorageContext,
  type VerifyToken,
} from 'plant-store';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deferred } from '../support/deferred.js';

const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);
beforeEach(() => {
  vi.useFakeTimers();
  rejections.length = 0;
  process.on('unhandledRejection', onRejection);
});
afterEach(async () => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
  // Node reports an unhandled rejection after the microtasks.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onRejection);
  expect(rejections).toEqual([]);
});

const good: PlantRequest = {
  method: 'POST',
  url: '/plants',
  headers: { authorization: 'Bearer good', 'content-type': 'application/json' },
  body: '{"id":1,"name":"Rosa canina"}',
};

function open({
  create = async () => 'created',
  find,
  verifyToken = () => true,
  ...options
}: Partial<PlantStorage> & { verifyToken?: VerifyToken<unknown> } & PlantStoreOptions = {}) {
  const onError = vi.fn();
  const handle = createPlantStore({ create, find }, verifyToken, { timeoutMs: 1000, onError, ...options });
  return { handle, onError };
}

/** The answer, and how many milliseconds of the fake clock it took. */
async function timed(answering: Promise<{ status: number; headers: Record<string, string>; body: string }>) {
  const begun = Date.now();
  let settled = false;
  const done = answering.then((answer) => {
    settled = true;
    return { after: Date.now() - begun, error: JSON.parse(answer.body).error, headers: answer.headers };
  });
  for (let i = 0; i < 100 && !settled; i++) await vi.advanceTimersByTimeAsync(100);
  return done;
}

describe('the error code names the step that stalled', () => {
  const never = () => new Promise<never>(() => {});
  async function* stalled() {
    yield new TextEncoder().encode('{"id":1,');
    await never();
  }
  test.each<[string, number, Parameters<typeof open>[0], Partial<PlantRequest>, RegExp | undefined]>([
    ['the verifier', 50002, { verifyToken: never }, {}, /timed out after 1000 ms waiting for verifyToken/],
    ['the upload, as a function', 40007, {}, { body: never }, undefined],
    ['the upload, as a stream', 40007, {}, { body: stalled() }, undefined],
    ['the storage', 50302, { create: never }, {}, /timed out after 1000 ms waiting for storage/],
    [
      'the lookup for a replay',
      50302,
      { create: async () => 'taken', find: never, acceptReplays: true },
      {},
      /timed out after 1000 ms waiting for storage/,
    ],
  ])('if it is %s, by %i', async (_who, error, parts, request, told) => {
    const { handle, onError } = open(parts);
    expect(await timed(handle({ ...good, ...request }))).toMatchObject({ after: 1000, error });
    expect(onError.mock.calls.map(([cause]) => [cause.name, cause.message])).toEqual(
      told ? [['TimeoutError', expect.stringMatching(told)]] : [],
    );
    expect(vi.getTimerCount()).toBe(0);
  });

  test('the reason of the signal names the step too', async () => {
    let signal: Signal | undefined;
    const { handle } = open({
      verifyToken: (_token, context) => {
        signal = context.signal;
        return true;
      },
    });
    await timed(handle({ ...good, body: never }));
    expect(signal?.reason.message).toBe('timed out after 1000 ms waiting for the request body');
  });

  test.each([
    [false, undefined],
    [true, '1'],
  ])(
    'Retry-After is sent only with acceptReplays (%s), because only then is a retry safe',
    async (acceptReplays, retryAfter) => {
      const { handle } = open({ create: never, find: never, acceptReplays });
      const { error, headers } = await timed(handle(good));
      expect([error, headers['retry-after']]).toEqual([50302, retryAfter]);
    },
  );

  test('all steps share one timeout', async () => {
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const { handle } = open({
      verifyToken: async () => {
        await wait(400);
        return true;
      },
      create: async () => {
        await wait(400);
        return 'created';
      },
    });
    const body = async () => {
      await wait(400);
      return good.body as string;
    };
    // Each step alone is shorter than the timeout, which expires during the storage's.
    expect(await timed(handle({ ...good, body }))).toMatchObject({ after: 1000, error: 50302 });
  });

  test('the timeout is 30 seconds by default', async () => {
    const { handle, onError } = open({ create: never, timeoutMs: undefined });
    const answering = handle(good);
    await vi.advanceTimersByTimeAsync(29_999);
    expect(onError).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(JSON.parse((await answering).body).error).toBe(50302);
  });

  test('a timeoutMs of 0 is no timeout', async () => {
    const { promise, resolve } = deferred<'created'>();
    const { handle } = open({ create: () => promise, timeoutMs: 0 });
    const answering = handle(good);
    await vi.advanceTimersByTimeAsync(2 ** 31);
    expect(vi.getTimerCount()).toBe(0);
    resolve('created');
    expect((await answering).status).toBe(200);
  });
});

describe('an outcome after the timeout is dropped', () => {
  test.each<[string, (late: ReturnType<typeof deferred<'created'>>) => void]>([
    ['created', ({ resolve }) => resolve('created')],
    ['a failure', ({ reject }) => reject(new Error('late'))],
    ['nonsense', ({ resolve }) => resolve('late' as 'created')],
    [
      'an error whose name throws',
      ({ reject }) =>
        reject(
          Object.defineProperty({}, 'name', {
            get() {
              throw new Error();
            },
          }),
        ),
    ],
  ])('if it is %s: onError is not called again, and no rejection is unhandled', async (_what, settle) => {
    const late = deferred<'created'>();
    const { handle, onError } = open({ create: () => late.promise });
    expect((await timed(handle(good))).error).toBe(50302);
    settle(late);
    await vi.advanceTimersByTimeAsync(1000);
    expect(onError).toHaveBeenCalledTimes(1);
  });

  test('a verifier that settles after the timeout creates nothing', async () => {
    const late = deferred<boolean>();
    const create = vi.fn();
    const { handle, onError } = open({ verifyToken: () => late.promise, create });
    expect((await timed(handle(good))).error).toBe(50002);
    late.resolve(true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(create).not.toHaveBeenCalled();
    expect(onError).toHaveBeenCalledTimes(1);
  });

  test('an upload that ends after the timeout creates nothing', async () => {
    const late = deferred<string>();
    const create = vi.fn();
    const { handle, onError } = open({ create });
    expect((await timed(handle({ ...good, body: () => late.promise }))).error).toBe(40007);
    late.resolve(good.body as string);
    await vi.advanceTimersByTimeAsync(1000);
    expect(create).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
  });
});

describe('the signal', () => {
  test('aborts when the timeout expires, with the reason that onError gets; the AbortError that follows is not reported', async () => {
    let reason: unknown;
    const { handle, onError } = open({
      create: (_plant, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(new DOMException('stopped', 'AbortError'));
          });
        }),
    });
    expect((await timed(handle(good))).error).toBe(50302);
    expect(reason).toMatchObject({ name: 'TimeoutError' });
    expect(onError.mock.calls).toEqual([[reason, good, 50302]]);
  });

  test('is aborted already if it is first read after the timeout', async () => {
    let context: StorageContext<unknown> | undefined;
    const { handle } = open({
      create: (_plant, given) => {
        context = given;
        return new Promise(() => {});
      },
    });
    await timed(handle(good));
    expect(context?.signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('survives {...context}, and is the same object for the verifier and the storage', async () => {
    const signals: Signal[] = [];
    const { handle } = open({
      verifyToken: (_token, context) => {
        signals.push({ ...context }.signal, context.signal);
        return true;
      },
      create: async (_plant, context) => {
        signals.push({ ...context }.signal, context.signal);
        return 'created';
      },
    });
    await handle(good);
    expect(signals).toHaveLength(4);
    expect(new Set(signals).size).toBe(1);
    expect(signals[0]).toBeInstanceOf(AbortSignal);
  });

  test('is created only if it is read; the signal of the request too', async () => {
    const made = vi.spyOn(globalThis, 'AbortController');
    try {
      const read = vi.fn();
      const request = Object.defineProperty({ ...good }, 'signal', { get: read });
      expect((await open().handle(request)).status).toBe(200);
      expect(made).not.toHaveBeenCalled();
      expect(read).not.toHaveBeenCalled();
    } finally {
      made.mockRestore();
    }
  });

  test('never aborts after the response, and leaves no timer and no listener', async () => {
    const client = new AbortController();
    const added = vi.spyOn(client.signal, 'addEventListener');
    const removed = vi.spyOn(client.signal, 'removeEventListener');
    const signals: Signal[] = [];
    const { handle } = open({
      verifyToken: async (_token, { signal }) => {
        signals.push(signal);
        await new Promise((resolve) => setTimeout(resolve, 10));
        return true;
      },
    });
    const answering = handle({ ...good, signal: client.signal });
    await vi.advanceTimersByTimeAsync(10);
    expect((await answering).status).toBe(200);
    expect(vi.getTimerCount()).toBe(0);
    expect(added.mock.calls.map(([, listener]) => listener)).toEqual(
      removed.mock.calls.map(([, listener]) => listener),
    );
    expect(added).toHaveBeenCalledTimes(1);
    client.abort();
    await vi.advanceTimersByTimeAsync(2000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });

  test('adds no listener if it is first read after the response', async () => {
    const client = new AbortController();
    const added = vi.spyOn(client.signal, 'addEventListener');
    let context: StorageContext<unknown> | undefined;
    const { handle } = open({
      create: async (_plant, given) => {
        context = given;
        return 'created';
      },
    });
    await handle({ ...good, signal: client.signal });
    expect(context?.signal.aborted).toBe(false);
    expect(added).not.toHaveBeenCalled();
  });

  test('needs no timer for work that settles at once', async () => {
    const started = vi.spyOn(globalThis, 'setTimeout');
    const { handle } = open({ verifyToken: async () => true });
    expect((await handle({ ...good, body: async () => good.body as string })).status).toBe(200);
    expect(started).not.toHaveBeenCalled();
  });

  test.each([
    ['verifier', { verifyToken: () => Promise.reject(new Error('boom')) }, 50002],
    ['storage', { create: () => Promise.reject(new Error('boom')) }, 50001],
  ])('needs no timer for a %s that fails at once', async (_who, parts, error) => {
    const started = vi.spyOn(globalThis, 'setTimeout');
    expect(JSON.parse((await open(parts).handle(good)).body).error).toBe(error);
    await vi.advanceTimersByTimeAsync(0);
    expect(started).not.toHaveBeenCalled();
  });
});

describe('a client that disconnects', () => {
  test.each([
    ['verifier', 50002],
    ['storage', 50001],
  ])(
    'aborts the signal of the %s with its reason; the AbortError that follows is not reported',
    async (who, error) => {
      const client = new AbortController();
      const reasons: unknown[] = [];
      const stop = (signal: Signal) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason);
            reject(signal.reason);
          });
        });
      const { handle, onError } = open({
        verifyToken: (_token, { signal }) => (who === 'verifier' ? stop(signal) : true),
        create: (_plant, { signal }) => stop(signal),
      });
      const answering = handle({ ...good, signal: client.signal });
      await vi.advanceTimersByTimeAsync(10);
      client.abort();
      expect(JSON.parse((await answering).body).error).toBe(error);
      expect(reasons).toEqual([client.signal.reason]);
      expect(onError).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test('has aborted the signal already if it is first read later', async () => {
    const { handle } = open({
      create: async (_plant, { signal }) => {
        expect(signal.aborted).toBe(true);
        return 'created';
      },
    });
    expect((await handle({ ...good, signal: AbortSignal.abort() })).status).toBe(200);
  });

  test('hides no failure of the storage', async () => {
    const failure = new Error('the disk is full');
    const { handle, onError } = open({ create: () => Promise.reject(failure) });
    const request = { ...good, signal: AbortSignal.abort() };
    await handle(request);
    expect(onError.mock.calls).toEqual([[failure, request, 50001]]);
  });
});

test('onError of a timed-out request runs in the AsyncLocalStorage of its own request', async () => {
  // Fake timers fire in the context of the code that lets time pass.
  vi.useRealTimers();
  const local = new AsyncLocalStorage<number>();
  const seen: unknown[] = [];
  const store = createPlantStore({ create: () => new Promise(() => {}) }, () => true, {
    timeoutMs: 1,
    onError: (_error, request) => void seen.push([request.raw, local.getStore()]),
  });
  const handling = Array.from({ length: 10 }, (_, raw) => local.run(raw, () => store({ ...good, raw })));
  await Promise.all(handling);
  expect(seen).toEqual(Array.from({ length: 10 }, (_, raw) => [raw, raw]));
});

test('a thousand requests at once start a thousand timers, and leave none', async () => {
  const { promise, resolve } = deferred<'created'>();
  const { handle } = open({ create: () => promise, verifyToken: () => Promise.resolve(true) });
  const answers = Array.from({ length: 1000 }, () => handle(good));
  await vi.advanceTimersByTimeAsync(1);
  expect(vi.getTimerCount()).toBe(1000);
  resolve('created');
  await Promise.all(answers);
  expect(vi.getTimerCount()).toBe(0);
});

test.each<[string, signal: object, thrown: unknown, times: number]>([
  [
    'does not get the reason with which the client disconnected',
    { aborted: true, reason: 'left' },
    'left',
    0,
  ],
  ['gets an error after a disconnect that has no reason', { aborted: true }, new Error('of the storage'), 1],
])('onError %s', async (_what, signal, thrown, times) => {
  const onError = vi.fn();
  const storage = { create: () => Promise.reject(thrown) };
  const handle = createPlantStore(storage, () => true, { onError });
  await handle({ ...good, signal: signal as AbortSignal });
  expect(onError).toHaveBeenCalledTimes(times);
});
