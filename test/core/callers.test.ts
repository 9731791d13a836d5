import {
  acceptTokens,
  createPlantStore,
  guard,
  type NewPlant,
  type PlantStorage,
  type StorageContext,
  type VerifyContext,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test, vi } from 'vitest';
import { createRequest } from '../support/plants.js';

const request = (token: string, body?: string) => ({ ...createRequest(token, body), raw: { host: 'own' } });

describe('the verifier', () => {
  test.each<[string, unknown]>([
    ['an object', { tenant: 'a' }],
    ['true', true],
    ['one', 1],
    ['a string', 'a'],
    ['an empty list', []],
  ])('passes %s unchanged to the storage, promised or not', async (_what, caller) => {
    for (const answer of [caller, Promise.resolve(caller)]) {
      const create = vi.fn<PlantStorage['create']>(async () => 'created');
      const sent = request('x');
      expect((await createPlantStore({ create }, () => answer)(sent)).status).toBe(200);
      const [[, context]] = create.mock.calls as [[NewPlant, StorageContext<unknown>]];
      expect(context.caller).toBe(caller);
      expect(context.request).toBe(sent);
    }
  });

  test.each([false, null, undefined, '', 0, 0n, Number.NaN])(
    'hazard: a falsy caller, such as %s, is no caller, promised or not',
    async (caller) => {
      for (const answer of [caller, Promise.resolve(caller)]) {
        const create = vi.fn<PlantStorage['create']>(async () => 'created');
        const verifyToken = () => answer as unknown as boolean;
        const response = await createPlantStore({ create }, verifyToken)(request('x'));
        expect([response.status, response.error]).toEqual([401, 40102]);
        const answered = await guard(verifyToken, () => expect.fail('it was let in'))(request('x'));
        expect([answered.status, answered.error]).toEqual([401, 40102]);
        expect(create).not.toHaveBeenCalled();
      }
    },
  );

  test('gets the exact token, and the request', async () => {
    const verifyToken = vi.fn((_token: string, _context: VerifyContext) => true);
    const sent = request('aZ09-._~+/==');
    await createPlantStore(memoryStorage(), verifyToken)(sent);
    expect(verifyToken.mock.calls).toEqual([['aZ09-._~+/==', expect.objectContaining({ request: sent })]]);
  });
});

describe('a context', () => {
  const names = ['caller', 'request', 'signal'];
  /** Every name that whoever looks finds: on the object and what it inherits from, and on a copy of it. */
  const shown = (context: object) => {
    const found = new Set<string>();
    for (let each = context; each && each !== Object.prototype; each = Object.getPrototypeOf(each))
      for (const name of Reflect.ownKeys(each)) found.add(String(name));
    found.delete('constructor');
    return { found: [...found].sort(), copied: Object.keys({ ...context }).sort() };
  };

  test('of a verifier, a storage and a guarded handler has request, caller and signal, and nothing else', async () => {
    const seen: object[] = [];
    const verifyToken = (_token: string, context: VerifyContext) => {
      seen.push(context);
      return 'Ada';
    };
    const storage: PlantStorage<string> = {
      async create(_plant, context) {
        seen.push(context);
        return 'taken';
      },
      async find(_id, context) {
        seen.push(context);
        return undefined;
      },
    };
    await createPlantStore(storage, verifyToken, { acceptReplays: true })(request('x'));
    await guard(verifyToken, (_request, context) => {
      seen.push(context);
      return { status: 204, headers: {}, body: '' };
    })(request('x'));
    expect(seen).toHaveLength(5);
    for (const context of seen) expect(shown(context)).toEqual({ found: names, copied: names });
    expect({ ...(seen[1] as StorageContext<string>) }).toMatchObject({
      caller: 'Ada',
      signal: expect.any(AbortSignal),
    });
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
});

describe('the storage', () => {
  test('may change the plant object that it gets: the response still has the members that the client sent', async () => {
    const create: PlantStorage['create'] = async (plant) => {
      Object.assign(plant, { name: 'changed', tag: 'changed' });
      return 'created';
    };
    const answer = await createPlantStore({ create }, () => true)(request('x'));
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
});

describe('with acceptReplays', () => {
  const first = '{"id":1,"name":"Rosa","tag":"rose"}';
  const untagged = '{"id":1,"name":"Rosa"}';
  const spelled = '{"tag":"rose","x":1,"name":"R\\u006fsa","id":1.0}';
  test.each([
    ['returns 200 for the same text', first, first, 200],
    ['returns 200 for the same plant in another notation', first, spelled, 200],
    ['is taken if it has another name', first, '{"id":1,"name":"rosa","tag":"rose"}', 400],
    ['is taken if it has another tag', first, '{"id":1,"name":"Rosa","tag":"Rose"}', 400],
    ['is taken if it lacks the tag', first, untagged, 400],
    ['returns 200 if neither has a tag', untagged, untagged, 200],
    ['is taken if it has an empty tag for none', untagged, '{"id":1,"name":"Rosa","tag":""}', 400],
  ])('a second create %s', async (_what, before, again, status) => {
    const handle = createPlantStore(memoryStorage(), () => true, { acceptReplays: true });
    const original = await handle(request('x', before));
    expect(original.status).toBe(200);
    const answer = await handle(request('x', again));
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer).toEqual(original);
    else expect(JSON.parse(answer.body).error).toBe(40003);
  });

  test('a replay returns 200 if find returns a tag of null, as databases have it', async () => {
    const find = async () => ({ id: 1n, name: 'Rosa canina', tag: null as never });
    const storage: PlantStorage = { create: async () => 'taken', find };
    const handle = createPlantStore(storage, () => true, { acceptReplays: true });
    expect((await handle(request('x'))).status).toBe(200);
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
  const fails = () => {
    throw new Error('of onError');
  };

  test.each<[string, () => unknown]>([
    ['throws', fails],
    ['rejects', () => Promise.reject(new Error('of onError'))],
    ['never settles', () => new Promise(() => {})],
    ['returns something', () => 'something'],
    ['returns a thenable that throws', () => Object.defineProperty({}, 'then', { get: fails })],
  ])('%s, and the response stays the same', async (_what, behave) => {
    const onError = vi.fn(behave as () => void);
    const cause = new Error('of the storage');
    const sent = request('x');
    const answer = await createPlantStore(failing(cause), () => true, { onError })(sent);
    expect(JSON.parse(answer.body).error).toBe(50001);
    expect(onError.mock.calls).toEqual([[cause, sent, 50001]]);
  });
});
