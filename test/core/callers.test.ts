import {
  acceptTokens,
  createPlantStore,
  type MaybePromise,
  type NewPlant,
  PlantRefused,
  type PlantRequest,
  type PlantStorage,
  StorageBusy,
  type StorageContext,
  type VerifyContext,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test, vi } from 'vitest';

const request = (token: string, body = '{"id":1,"name":"Rosa canina"}'): PlantRequest => ({
  method: 'POST',
  url: '/plants',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body,
  raw: { host: 'own' },
});

describe('the verifier', () => {
  test.each<[string, unknown]>([
    ['an object', { tenant: 'a' }],
    ['true', true],
    ['zero', 0],
    ['an empty string', ''],
    ['NaN', Number.NaN],
  ])('passes %s unchanged to the storage, promised or not', async (_what, caller) => {
    for (const answer of [caller, Promise.resolve(caller)]) {
      const contexts: StorageContext<unknown>[] = [];
      const storage: PlantStorage = {
        async create(_plant, context) {
          contexts.push(context);
          return 'created';
        },
      };
      const sent = request('x');
      expect((await createPlantStore(storage, () => answer)(sent)).status).toBe(200);
      expect(contexts).toHaveLength(1);
      expect(contexts[0]?.caller).toBe(caller);
      expect(contexts[0]?.request).toBe(sent);
    }
  });

  test.each<[string, MaybePromise<false | null | undefined>]>([
    ['false', false],
    ['null', null],
    ['undefined', undefined],
    ['a promise of false', Promise.resolve(false)],
    ['a promise of null', Promise.resolve(null)],
    ['a promise of undefined', Promise.resolve(undefined)],
  ])('rejects the token by returning %s, and onError is not called', async (_what, answer) => {
    const onError = vi.fn();
    const create = vi.fn();
    const response = await createPlantStore({ create }, () => answer as false, { onError })(request('x'));
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer realm="plants", error="invalid_token"');
    expect(create).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
  });

  test('gets the exact token, and the request', async () => {
    const calls: [string, VerifyContext][] = [];
    const handle = createPlantStore(memoryStorage(), (token, context) => {
      calls.push([token, context]);
      return true;
    });
    const sent = request('aZ09-._~+/==');
    await handle(sent);
    expect(calls).toEqual([['aZ09-._~+/==', expect.objectContaining({ request: sent })]]);
    expect(calls[0]?.[1].request.raw).toEqual({ host: 'own' });
  });
});

describe('acceptTokens', () => {
  const verify = acceptTokens('first', 'second==');
  const context = {} as VerifyContext;
  test.each([
    ['first', true],
    ['second==', true],
    ['second', false],
    ['firs', false],
    ['firstx', false],
    ['firsT', false],
    ['xirst', false],
    ['firstfirst', false],
    ['', false],
  ])('maps "%s" to %s', (token, accepted) => {
    expect(verify(token, context)).toBe(accepted);
  });

  test('works as the verifier of a handler', async () => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
    expect((await handle(request('secret'))).status).toBe(200);
    expect((await handle(request('secret2'))).status).toBe(401);
  });
});

describe('the storage', () => {
  test('may return a plain value instead of a promise, because JavaScript users do', async () => {
    const create = (() => 'created') as unknown as PlantStorage['create'];
    expect((await createPlantStore({ create }, () => true)(request('x'))).status).toBe(200);
  });

  test('may change the plant object that it gets: the response still has the members that the client sent', async () => {
    const storage: PlantStorage = {
      async create(plant) {
        Object.assign(plant, { name: 'changed', tag: 'changed' });
        return 'created';
      },
    };
    const answer = await createPlantStore(storage, () => true)(request('x'));
    expect(answer.body).toBe('{"name":"Rosa canina"}');
  });

  test('is called as a method, so that it may be an instance of a class', async () => {
    class Plants {
      readonly kept: NewPlant[] = [];
      async create(plant: NewPlant) {
        this.kept.push(plant);
        return 'created' as const;
      }
    }
    const plants = new Plants();
    expect((await createPlantStore(plants, () => true)(request('x'))).status).toBe(200);
    expect(plants.kept).toHaveLength(1);
  });

  test('gets a hundred creates of one id at once, and exactly one returns 200', async () => {
    const handle = createPlantStore(memoryStorage(), () => true);
    const answers = await Promise.all(Array.from({ length: 100 }, () => handle(request('x'))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.includes('40003'))).toHaveLength(99);
  });

  test.each(['stored', undefined, true])(
    'causes 50001 if it returns %s, which is neither created nor taken, even if the plant is stored and replays are accepted',
    async (outcome) => {
      const onError = vi.fn();
      const storage = {
        create: async () => outcome as 'created',
        find: async () => ({ id: 1n, name: 'Rosa canina' }),
      };
      for (const acceptReplays of [false, true]) {
        const handle = createPlantStore(storage, () => true, { acceptReplays, onError });
        expect(JSON.parse((await handle(request('x'))).body).error).toBe(50001);
        expect(onError.mock.lastCall?.[0]).toEqual(
          new TypeError("storage.create must return 'created' or 'taken'"),
        );
      }
    },
  );

  test('throws StorageBusy, which a log shows with its cause', () => {
    expect(String(new StorageBusy())).toBe('StorageBusy: the storage queue is full');
    const cause = new Error('connection refused');
    expect(new StorageBusy('the storage is unavailable', { cause })).toMatchObject({
      message: 'the storage is unavailable',
      cause,
    });
  });

  test('throws errors that are recognised by name, because the CommonJS copy of the package has its own classes', async () => {
    for (const [error, expected] of [
      [
        Object.assign(new Error('too long'), { name: 'PlantRefused' }),
        '{"error":40004,"message":"too long"}',
      ],
      [Object.assign(new Error('full'), { name: 'StorageBusy' }), /^{"error":50301,/],
    ] as const) {
      const create = () => Promise.reject(error);
      const answer = await createPlantStore({ create }, () => true, { onError() {} })(request('x'));
      expect(answer.body).toMatch(expected);
    }
  });
});

describe('with acceptReplays', () => {
  const first = '{"id":1,"name":"Rosa","tag":"rose"}';
  test.each([
    ['returns 200 for the same text', first, first, 200],
    [
      'returns 200 for the same plant in another notation',
      first,
      '{"tag":"rose","x":1,"name":"R\\u006fsa","id":1.0}',
      200,
    ],
    ['is taken if it has another name', first, '{"id":1,"name":"rosa","tag":"rose"}', 400],
    ['is taken if it has another tag', first, '{"id":1,"name":"Rosa","tag":"Rose"}', 400],
    ['is taken if it lacks the tag', first, '{"id":1,"name":"Rosa"}', 400],
    ['returns 200 if neither has a tag', '{"id":1,"name":"Rosa"}', '{"id":1,"name":"Rosa"}', 200],
    [
      'is taken if it has an empty tag, and the stored plant has none',
      '{"id":1,"name":"Rosa"}',
      '{"id":1,"name":"Rosa","tag":""}',
      400,
    ],
  ])('a second create %s', async (_what, before, again, status) => {
    const handle = createPlantStore(memoryStorage(), () => true, { acceptReplays: true });
    const original = await handle(request('x', before));
    expect(original.status).toBe(200);
    const answer = await handle(request('x', again));
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer).toEqual(original);
    else expect(JSON.parse(answer.body).error).toBe(40003);
  });

  test('find is called; without it a replay is id_taken', async () => {
    const find = vi.fn();
    const handle = createPlantStore({ create: async () => 'taken', find }, () => true);
    expect(JSON.parse((await handle(request('x'))).body).error).toBe(40003);
    expect(find).not.toHaveBeenCalled();
  });

  test.each<[string, PlantStorage['find'], number]>([
    ['is taken if the plant was deleted meanwhile', async () => undefined, 40003],
    [
      'returns 200 if find returns a tag of null, as databases have it',
      async () => ({ id: 1n, name: 'Rosa canina', tag: null as never }),
      200,
    ],
    [
      'returns 200 if find returns a plain value, because JavaScript users do',
      (() => ({ id: 1n, name: 'Rosa canina' })) as never,
      200,
    ],
    ['is 50001 if find fails', async () => Promise.reject(new Error('gone')), 50001],
  ])('a replay %s', async (_what, find, expected) => {
    const onError = vi.fn();
    const storage: PlantStorage = { create: async () => 'taken', find };
    const answer = await createPlantStore(storage, () => true, { acceptReplays: true, onError })(
      request('x'),
    );
    expect(answer.status === 200 ? 200 : JSON.parse(answer.body).error).toBe(expected);
    expect(onError).toHaveBeenCalledTimes(expected >= 50000 ? 1 : 0);
  });

  test('find gets the exact id and the context of the create', async () => {
    const find = vi.fn(async () => undefined);
    const create = vi.fn(async () => 'taken' as const);
    const handle = createPlantStore({ create, find }, () => 'caller', { acceptReplays: true });
    await handle(request('x', '{"id":9007199254740993,"name":"x"}'));
    expect(find.mock.calls).toEqual([[9007199254740993n, expect.objectContaining({ caller: 'caller' })]]);
  });
});

describe('onError', () => {
  const failing = (error: unknown) => ({ create: () => Promise.reject(error) });

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('of onError');
      },
    ],
    ['rejects', () => Promise.reject(new Error('of onError'))],
    ['never settles', () => new Promise(() => {})],
    ['returns something', () => 'something'],
    [
      'returns a thenable that throws',
      () =>
        Object.defineProperty({}, 'then', {
          get() {
            throw new Error('of then');
          },
        }),
    ],
  ])('%s, and the response stays the same', async (_what, behave) => {
    const onError = vi.fn(behave as () => void);
    const cause = new Error('of the storage');
    const sent = request('x');
    const answer = await createPlantStore(failing(cause), () => true, { onError })(sent);
    expect(JSON.parse(answer.body).error).toBe(50001);
    expect(onError.mock.calls).toEqual([[cause, sent, 50001]]);
  });

  test.each<[string, number, unknown]>([
    ['is called once after a failure', 1, new Error('x')],
    ['is called once after StorageBusy', 1, new StorageBusy()],
    ['is not called after PlantRefused', 0, new PlantRefused('x')],
    [
      'is called once after an AbortError although the client is connected',
      1,
      new DOMException('x', 'AbortError'),
    ],
  ])('%s', async (_what, times, error) => {
    const onError = vi.fn();
    await createPlantStore(failing(error), () => true, { onError })(request('x'));
    expect(onError.mock.calls.map(([told]) => told)).toEqual(times === 1 ? [error] : []);
  });
});
