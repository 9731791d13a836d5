// What the model of deadline-model.sized.test.ts cannot say: messages and reasons.
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  createPlantStore,
  type PlantRequest,
  type PlantStorage,
  type PlantStoreOptions,
  type Signal,
  type VerifyContext,
  type VerifyToken,
} from 'plant-store';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRequest } from '../support/plants.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const good = createRequest('good');

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
  const replay = { create: async () => 'taken' as const, find: never, acceptReplays: true };
  test.each<[string, number, Parameters<typeof open>[0], PlantRequest['body'], string | undefined]>([
    ['the verifier', 50002, { verifyToken: never }, good.body, 'verifyToken'],
    ['the upload, as a function', 40007, {}, never, undefined],
    ['the upload, as a stream', 40007, {}, stalled(), undefined],
    ['the storage', 50302, { create: never }, good.body, 'storage'],
    ['the lookup for a replay', 50302, replay, good.body, 'storage'],
  ])('if it is %s, by %i', async (_who, error, parts, body, party) => {
    const { handle, onError } = open(parts);
    expect(await timed(handle({ ...good, body }))).toMatchObject({ after: 1000, error });
    expect(onError.mock.calls.map(([cause]) => `${cause.name}: ${cause.message}`)).toEqual(
      party ? [`TimeoutError: timed out after 1000 ms waiting for ${party}`] : [],
    );
    expect(vi.getTimerCount()).toBe(0);
  });

  test('the reason of the signal names the step too, also if it is first read afterwards', async () => {
    for (const readsBefore of [true, false]) {
      let context: VerifyContext | undefined;
      const verifyToken: VerifyToken<true> = (_token, given) => {
        context = given;
        return readsBefore ? !given.signal.aborted : true;
      };
      await timed(open({ verifyToken }).handle({ ...good, body: never }));
      expect(context?.signal.reason.message).toBe('timed out after 1000 ms waiting for the request body');
    }
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

  test('the timeout is 30 seconds by default', async () => {
    const { handle, onError } = open({ create: never, timeoutMs: undefined });
    const answering = handle(good);
    await vi.advanceTimersByTimeAsync(29_999);
    expect(onError).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(JSON.parse((await answering).body).error).toBe(50302);
  });
});

describe('the signal', () => {
  test('aborts when the timeout expires, with the reason that onError gets; the AbortError that follows is not reported', async () => {
    const reasons: unknown[] = [];
    const create: PlantStorage['create'] = (_plant, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason);
          reject(new DOMException('stopped', 'AbortError'));
        });
      });
    const { handle, onError } = open({ create });
    expect((await timed(handle(good))).error).toBe(50302);
    expect(reasons).toMatchObject([{ name: 'TimeoutError' }]);
    expect(onError.mock.calls).toEqual([[reasons[0], good, 50302]]);
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
});

test('without a timeout, a refused upload may be drained for 5 s, however long the token took', async () => {
  const setDrainMs = vi.fn();
  const request = { ...good, setDrainMs };
  const verifyToken = () => new Promise<false>((resolve) => setTimeout(resolve, 60_000, false));
  const handling = open({ verifyToken, timeoutMs: 0 }).handle(request);
  await vi.advanceTimersByTimeAsync(60_000);
  await handling;
  expect(setDrainMs.mock.calls).toEqual([[5_000]]);
});

test.each<[number, boolean, string]>([
  [40102, false, good.body as string],
  [40002, true, '{}'],
])(
  'an upload that is refused with %i may be drained for what is left of its time',
  async (error, isValid, body) => {
    const setDrainMs = vi.fn();
    const handling = open({ verifyToken: () => isValid }).handle({
      ...good,
      body,
      setDrainMs,
    } as PlantRequest);
    expect((await timed(handling)).error).toBe(error);
    // The clock is real.
    const [[ms]] = setDrainMs.mock.calls as [[number]];
    expect(ms).toBeLessThanOrEqual(1_000);
  },
);

test('onError of a timed-out request runs in the AsyncLocalStorage of its own request', async () => {
  // Fake timers fire in the context of the code that lets time pass.
  vi.useRealTimers();
  const local = new AsyncLocalStorage<number>();
  // By request: which one times out first is of no account.
  const seen = new Map<unknown, unknown>();
  const store = createPlantStore({ create: () => new Promise(() => {}) }, () => true, {
    timeoutMs: 1,
    onError: (_error, request) => void seen.set(request.raw, local.getStore()),
  });
  const raws = Array.from({ length: 10 }, (_, raw) => raw);
  await Promise.all(raws.map((raw) => local.run(raw, () => store({ ...good, raw }))));
  expect(seen).toEqual(new Map(raws.map((raw) => [raw, raw])));
});

test.each<[string, signal: object, thrown: unknown, times: number]>([
  // The reason with which the client disconnected.
  ['does not get what the signal has', { aborted: true, reason: 'left' }, 'left', 0],
  ['does not get what it is the cause of', { aborted: true, reason: 'left' }, { cause: 'left' }, 0],
  ['gets an error after a disconnect that has no reason', { aborted: true }, new Error('of the storage'), 1],
])('onError %s', async (_what, signal, thrown, times) => {
  const onError = vi.fn();
  const storage = { create: () => Promise.reject(thrown) };
  const handle = createPlantStore(storage, () => true, { onError });
  await handle({ ...good, signal: signal as AbortSignal });
  expect(onError).toHaveBeenCalledTimes(times);
});
