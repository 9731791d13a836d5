import fc from 'fast-check';
import {
  acceptTokens,
  type CreateMany,
  type CreateOutcome,
  createPlantStore,
  groupCommit,
  type NewPlant,
  PlantRefused,
  type PlantRequest,
  type PlantStorage,
  RolledBack,
  StorageBusy,
  type StorageContext,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Queue } from '../../src/group-commit/queue.js';
import { SimulatedClock } from '../support/clock.js';
import { waitFor } from '../support/wait-for.js';

const request = { method: 'POST', url: '/plants', headers: {} };
const context: StorageContext<string> = { request, caller: 'anyone', signal: new AbortController().signal };
const plant = (id: bigint | number, name = `plant ${id}`): NewPlant => ({ id: BigInt(id), name });
const ids = (batch: readonly NewPlant[]) => batch.map(({ id }) => Number(id));
/** Two immediates: between them the loop delivers the messages that were sent before. */
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
/** How many resources of a kind keep the process alive. */
const active = (kind: string) => process.getActiveResourcesInfo().filter((one) => one === kind).length;

const unsettled: (() => void)[] = [];

/** A `createMany` whose calls the test settles by hand; the remaining ones settle when the test ends. */
function byHand() {
  const calls: {
    ids: number[];
    plants: readonly NewPlant[];
    contexts: readonly StorageContext<string>[];
    answer: (...outcomes: CreateOutcome[]) => Promise<void>;
    fail: (error: unknown) => Promise<void>;
  }[] = [];
  const createMany: CreateMany<string> = (plants, contexts) =>
    new Promise((resolve, reject) => {
      unsettled.push(() => resolve(plants.map(() => 'created')));
      calls.push({
        ids: ids(plants),
        plants,
        contexts,
        async answer(...outcomes) {
          resolve(outcomes);
          await turn();
          await turn();
        },
        async fail(error) {
          reject(error);
          await turn();
          await turn();
        },
      });
    });
  return { calls, createMany };
}

/** The outcome of a create as soon as it is known. */
function outcome(creating: Promise<string>): { current: unknown } {
  const told: { current: unknown } = { current: 'pending' };
  creating.then(
    (value) => {
      told.current = value;
    },
    (error) => {
      told.current = error;
    },
  );
  return told;
}

afterEach(async () => {
  for (const settle of unsettled) {
    settle();
    await turn();
    await turn();
  }
  unsettled.length = 0;
});

describe('a batch', () => {
  it('holds all creates of one event-loop turn, sorted by id, each with its own context', async () => {
    const { calls, createMany } = byHand();
    const { create } = groupCommit(createMany);
    const createFor = (id: number) => create(plant(id), { ...context, caller: `caller of ${id}` });
    for (const id of [3, -9, 1]) createFor(id);
    queueMicrotask(() => createFor(2));
    expect(calls).toEqual([]);
    await turn();
    expect(calls.map((call) => call.ids)).toEqual([[-9, 1, 2, 3]]);
    expect(calls[0]?.contexts.map(({ caller }) => caller)).toEqual(
      [-9, 1, 2, 3].map((id) => `caller of ${id}`),
    );
  });

  it.each(['setImmediate', 'MessageChannel'] as const)(
    'also starts on platforms without %s, and not in a microtask; it keeps no process alive',
    async (missing) => {
      const { calls, createMany } = byHand();
      const ports = active('MessagePort');
      const { [missing]: removed } = globalThis;
      Reflect.deleteProperty(globalThis, missing);
      vi.resetModules();
      const { create } = (await import('../../src/group-commit/group-commit.js')).groupCommit(createMany);
      Object.assign(globalThis, { [missing]: removed });
      create(plant(1), context);
      for (let i = 0; i < 100; i++) await null;
      create(plant(2), context);
      expect(calls).toEqual([]);
      await waitFor(() => expect(calls.map((call) => call.ids)).toEqual([[1, 2]]));
      await waitFor(() => expect(active('MessagePort')).toBe(ports));
    },
  );

  it('closes each channel that it opens where ports are others than on Node, as in browsers and on Deno', async () => {
    const { calls, createMany } = byHand();
    const { MessageChannel } = globalThis;
    const closes: (() => void)[] = [];
    vi.stubGlobal('MessageChannel', function Channel() {
      const { port1, port2 } = new MessageChannel();
      const close = vi.fn(port1.close.bind(port1));
      closes.push(close);
      return { port1: Object.assign(port1, { on: undefined, close }), port2 };
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    vi.resetModules();
    const { create } = (await import('../../src/group-commit/group-commit.js')).groupCommit(createMany);
    create(plant(1), context);
    await turn();
    await calls[0]?.answer('created');
    create(plant(2), context);
    await turn();
    expect(calls.map((call) => call.ids)).toEqual([[1], [2]]);
    for (const close of closes) expect(close).toHaveBeenCalledOnce();
    expect(closes.length).toBeGreaterThan(1);
  });

  it('leaves no timer when it settles', async () => {
    const { calls, createMany } = byHand();
    const set = vi.spyOn(globalThis, 'setTimeout');
    const clear = vi.spyOn(globalThis, 'clearTimeout');
    onTestFinished(() => void vi.restoreAllMocks());
    vi.resetModules();
    const { create } = (await import('../../src/group-commit/group-commit.js')).groupCommit(createMany);
    set.mockClear();
    for (const id of [1, 2]) create(plant(id), context);
    while (calls.length === 0) await turn();
    const timers = set.mock.results.map(({ value }) => value);
    expect(timers).toHaveLength(2);
    expect(clear).not.toHaveBeenCalledWith(timers[0]);
    await calls[0]?.answer('created', 'created');
    for (const timer of timers) expect(clear).toHaveBeenCalledWith(timer);
    expect(set).toHaveBeenCalledTimes(2);
  });

  it('holds the creates that arrive while another batch is in flight, and waits for that batch', async () => {
    const { calls, createMany } = byHand();
    const { create } = groupCommit(createMany);
    const first = outcome(create(plant(1), context));
    await turn();
    create(plant(2), context);
    await turn();
    create(plant(3), context);
    await turn();
    expect(calls.map((call) => call.ids)).toEqual([[1]]);
    await calls[0]?.answer('created');
    expect(first.current).toBe('created');
    expect(calls.map((call) => call.ids)).toEqual([[1], [2, 3]]);
  });

  it('holds at most maxBatch plants', async () => {
    const sizes: number[] = [];
    const { create } = groupCommit(
      (plants) => {
        sizes.push(plants.length);
        return plants.map(() => 'created' as const);
      },
      { maxBatch: 4 },
    );
    await Promise.all(Array.from({ length: 10 }, (_, i) => create(plant(i), context)));
    expect(sizes).toEqual([4, 4, 2]);
  });

  it('ends before its text fills a statement; a longer plant is sent alone', async () => {
    const batches: number[][] = [];
    const { create } = groupCommit((plants) => {
      batches.push(ids(plants));
      return plants.map(() => 'created' as const);
    });
    const lengths = [2 ** 17, 2 ** 17, 2 ** 17, 2 ** 17 + 1, 2 ** 21, 5, 5];
    await Promise.all(lengths.map((length, id) => create(plant(id, 'x'.repeat(length)), context)));
    expect(batches).toEqual([[0, 1], [2], [3], [4], [5, 6]]);
  });
});

describe('each plant', () => {
  it('gets its own outcome: a rejection concerns one plant', async () => {
    const refused = new PlantRefused('too thorny');
    const { create } = groupCommit((plants) =>
      plants.map(({ id }) => (id === 2n ? refused : id === 3n ? 'taken' : 'created')),
    );
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map((id) => create(plant(id), context)));
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 'created' },
      { status: 'rejected', reason: refused },
      { status: 'fulfilled', value: 'taken' },
      { status: 'fulfilled', value: 'created' },
    ]);
  });

  const saidBy = (error: Error | string) => String((error as Error).message ?? error);

  it.each<[string, CreateMany<unknown>, RegExp]>([
    ['a rejection', () => Promise.reject(new Error('lost')), /^lost$/],
    [
      'a throw',
      () => {
        throw new Error('lost');
      },
      /^lost$/,
    ],
    ['a rejection that looks like an outcome', () => Promise.reject('created'), /^created$/],
    ['too few outcomes', () => [], /one outcome per plant/],
    ['too many outcomes', () => ['created', 'created', 'created'], /one outcome per plant/],
    ['no outcomes', () => undefined as never, /undefined/],
    [
      'an outcome that is none',
      (plants) => plants.map(() => 'stored' as never),
      /'created', 'taken' or an Error/,
    ],
    ['an outcome of null', (plants) => plants.map(() => null as never), /'created', 'taken' or an Error/],
    [
      'an outcome that is missing',
      (plants) => plants.map(() => undefined as never),
      /'created', 'taken' or an Error/,
    ],
  ])('fails with %s, because then no outcome is known', async (_, createMany, message) => {
    const calls = vi.fn(createMany);
    const { create } = groupCommit(calls);
    const outcomes = [create(plant(1), context), create(plant(2), context)];
    for (const creating of outcomes) await expect(creating.catch(saidBy)).resolves.toMatch(message);
    expect(calls).toHaveBeenCalledTimes(1);
    await expect(create(plant(1), context).catch(saidBy)).resolves.toMatch(message);
  });
});

describe('a second create of an id', () => {
  it.each(['created', 'taken'] as const)(
    'is taken once the first is %s, not before, and is not sent',
    async (first) => {
      const { calls, createMany } = byHand();
      const { create } = groupCommit(createMany);
      const told = [
        outcome(create(plant(1), context)),
        outcome(create(plant(1), context)),
        outcome(create(plant(1), context)),
      ];
      await turn();
      expect(told.map(({ current }) => current)).toEqual(Array(3).fill('pending'));
      await calls[0]?.answer(first);
      expect(told.map(({ current }) => current)).toEqual([first, 'taken', 'taken']);
      expect(calls.map((call) => call.ids)).toEqual([[1]]);
    },
  );

  it('is sent after the first if that is already in flight, never at the same time', async () => {
    const { calls, createMany } = byHand();
    const { create } = groupCommit(createMany);
    const told = [outcome(create(plant(1), context))];
    await turn();
    told.push(outcome(create(plant(1), context)));
    await turn();
    expect(calls).toHaveLength(1);
    await calls[0]?.answer('created');
    expect(told.map(({ current }) => current)).toEqual(['created', 'pending']);
    await calls[1]?.answer('taken');
    expect(told.map(({ current }) => current)).toEqual(['created', 'taken']);
  });

  it('gets its own attempt when the first fails, one after the other', async () => {
    const { calls, createMany } = byHand();
    const { create } = groupCommit(createMany);
    const told = ['a', 'b', 'c', 'd'].map((name) => outcome(create(plant(1, name), context)));
    await turn();
    const lost = new Error('lost');
    await calls[0]?.answer(lost);
    await calls[1]?.fail(lost);
    expect(told.map(({ current }) => current)).toEqual([lost, lost, 'pending', 'pending']);
    await calls[2]?.answer('created');
    expect(told.map(({ current }) => current)).toEqual([lost, lost, 'created', 'taken']);
    expect(calls.map((call) => call.plants[0]?.name)).toEqual(['a', 'b', 'c']);
  });
});

/** How two creates of one plant settle that share a batch, until they time out. */
async function createTwice(createMany: CreateMany<unknown>) {
  const clock = new SimulatedClock();
  const queue = new Queue(createMany, { timeoutMs: 1_000 }, clock);
  const creating = [queue.create(plant(1), context), queue.create(plant(1), context)];
  const settling = Promise.allSettled(creating);
  await clock.advance(1_000);
  return settling;
}

describe('a duplicate of a create whose outcome is unknown', () => {
  it('returns 50001 as the first does, if both time out', async () => {
    const { calls, createMany } = byHand();
    const clock = new SimulatedClock();
    const storage = new Queue<true>(createMany as CreateMany<unknown>, { timeoutMs: 1_000 }, clock);
    const handle = createPlantStore(storage, acceptTokens('secret'), { onError() {} });
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
    const responding = [1, 2].map(() =>
      handle({ ...request, headers, body: '{"id":1,"name":"Rosa canina"}' }),
    );
    await clock.advance(1_000);
    const errors = (await Promise.all(responding)).map(({ body }) => JSON.parse(body).error);
    expect(calls.map((call) => call.ids)).toEqual([[1]]);
    expect(errors).toEqual([50001, 50001]);
  });

  it.each([
    ['of the call', (lost: Error) => Promise.reject(lost)],
    ['of the plant', async (lost: Error) => [lost]],
  ])('rejects with its error %s, if it is not sent itself', async (_, fail) => {
    const lost = new Error('connection lost');
    let calls = 0;
    const outcomes = await createTwice(() =>
      ++calls === 1 ? fail(lost) : Promise.reject(new RolledBack('together', new Error('refused'))),
    );
    expect(outcomes).toEqual(Array(2).fill({ status: 'rejected', reason: lost }));
    expect(calls).toBeGreaterThan(1);
  });

  it.each([new PlantRefused('too thorny'), new StorageBusy(), new RolledBack('apart', new Error('a CHECK'))])(
    'rejects as busy if the first was definitely not stored: %s',
    async (refusal) => {
      let calls = 0;
      const [first, duplicate] = await createTwice(async () => {
        if (++calls === 1) return [refusal];
        throw new RolledBack('together', new Error('refused'));
      });
      expect(first).toEqual({ status: 'rejected', reason: refusal });
      expect(duplicate).toMatchObject({
        reason: { name: 'StorageBusy', message: 'the storage is unavailable' },
      });
    },
  );
});

describe('a namespace', () => {
  const namespace = ({ caller }: StorageContext<string>) => caller;
  const of = (caller: string) => ({ ...context, caller });

  it('has ids of its own: creates of one id in two namespaces are one batch, and no duplicates', async () => {
    const { calls, createMany } = byHand();
    const { create } = groupCommit(createMany, { namespace });
    const told = ['garden', 'park', 'garden'].map((caller) => outcome(create(plant(1), of(caller))));
    await turn();
    expect(calls.map((call) => call.ids)).toEqual([[1, 1]]);
    expect(calls[0]?.contexts.map(({ caller }) => caller)).toEqual(['garden', 'park']);
    await calls[0]?.answer('created', 'created');
    expect(told.map(({ current }) => current)).toEqual(['created', 'created', 'taken']);
  });

  it('that cannot be found fails its create alone', async () => {
    const { create } = groupCommit(async (plants) => plants.map(() => 'created'), {
      namespace: ({ caller }: StorageContext<{ tenant: string }>) => caller.tenant,
    });
    const good = create(plant(1), { ...context, caller: { tenant: 'garden' } });
    await expect(create(plant(1), { ...context, caller: undefined as never })).rejects.toThrow(TypeError);
    expect(await good).toBe('created');
  });
});

describe('a create that is wrong itself', () => {
  const broken = () => {
    throw new Error('broken');
  };
  const withGetter = (target: object, name: string) =>
    Object.defineProperty({ ...target }, name, { get: broken });

  it.each<[string, unknown, unknown]>([
    ['has no name', { id: 1n }, context],
    ['has a number as its id', { id: 1, name: 'Rosa' }, context],
    ['has a number as its tag', { id: 1n, name: 'Rosa', tag: 1 }, context],
    ['is no plant', undefined, context],
    ['has a getter that throws', withGetter({ id: 1n }, 'name'), context],
    ['has a signal whose getter throws', plant(1), withGetter(context, 'signal')],
    ['has a signal that throws', plant(1), { ...context, signal: withGetter({}, 'aborted') }],
  ])('rejects alone because it %s', async (_, wrong, wrongContext) => {
    const { calls, createMany } = byHand();
    const { create } = groupCommit(createMany);
    create(plant(0), context);
    await turn();
    const told = outcome(create(wrong as NewPlant, wrongContext as StorageContext<string>));
    const neighbour = outcome(create(plant(2), context));
    await calls[0]?.answer('created');
    expect(told.current).toBeInstanceOf(Error);
    expect(calls[1]?.ids).toEqual([2]);
    await calls[1]?.answer('created');
    expect(neighbour.current).toBe('created');
    create(plant(3), context);
    await turn();
    expect(calls[2]?.ids).toEqual([3]);
  });

  it.each([
    ['no context', undefined],
    ['no signal', { ...context, signal: undefined }],
    ['a signal without addEventListener', { ...context, signal: { aborted: false } }],
  ])('is stored if only its context is unusual, as in a script: it has %s', async (_, scripts) => {
    const { calls, createMany } = byHand();
    const { create } = groupCommit(createMany);
    create(plant(0), context);
    await turn();
    const waited = outcome(create(plant(1), scripts as never));
    await calls[0]?.answer('created');
    await calls[1]?.answer('created');
    expect(waited.current).toBe('created');
  });

  it.each([
    { id: 1n },
    { id: 1, name: 'Rosa' },
    { id: 1n, name: ['Rosa'] },
    { id: 1n, name: 'Rosa', tag: 1 },
  ])('rejects with an error that describes a plant: %o', async (wrong) => {
    const { create } = groupCommit(async (plants) => plants.map(() => 'created'));
    await expect(create(wrong as never, context)).rejects.toThrow(
      new TypeError('create needs a plant: a bigint id, a string name and, if there is one, a string tag'),
    );
  });
});

describe('a create whose client has disconnected', () => {
  function lazyContext() {
    const signal = vi.fn(() => new AbortController().signal);
    const lazy = {
      request,
      caller: 'anyone',
      get signal() {
        return signal();
      },
    };
    return { signal, lazy };
  }

  it('is not sent if it was still waiting, and leaves its id to the next create', async () => {
    const { calls, createMany } = byHand();
    const { create } = groupCommit(createMany);
    create(plant(0), context);
    await turn();
    const gone = new AbortController();
    const told = outcome(create(plant(1, 'gone'), { ...context, signal: gone.signal }));
    create(plant(1, 'next'), context);
    create(plant(2), context);
    gone.abort();
    await calls[0]?.answer('created');
    expect(told.current).toMatchObject({ name: 'StorageBusy', cause: gone.signal.reason });
    expect(calls[1]?.plants.map(({ name }) => name)).toEqual(['next', 'plant 2']);
  });

  it('does not make the others read their signal, if they did not have to wait', async () => {
    const { calls, createMany } = byHand();
    const { create } = groupCommit(createMany);
    const { signal, lazy } = lazyContext();
    create(plant(1), lazy);
    await turn();
    expect(calls).toHaveLength(1);
    expect(signal).not.toHaveBeenCalled();
    create(plant(2), lazy);
    await calls[0]?.answer('created');
    expect(signal).toHaveBeenCalledTimes(1);
  });

  it('does not make the others read their signal, if they arrive with an outcome', async () => {
    const { create } = groupCommit(async (plants) => plants.map(() => 'created'));
    const { signal, lazy } = lazyContext();
    const client = async (id: number) => {
      for (let i = 0; i < 3; i++) await create(plant(id + i), lazy);
    };
    await Promise.all([client(0), client(10)]);
    expect(signal).not.toHaveBeenCalled();
  });
});

describe.each<[string, (context: StorageContext<true>) => StorageContext<true>]>([
  ['the context as it is', (context) => context],
  ['a copy of the context', (context) => ({ ...context })],
  [
    'a proxy of the context',
    (context) => new Proxy(context, { get: (target, key) => Reflect.get(target, key) }),
  ],
  ['an heir of the context', (context) => Object.create(context, { signal: { value: context.signal } })],
])('a create of the handler that waits, with %s', (_, contextOf) => {
  /** A request that has to wait for a batch, which `end` settles. */
  async function waiting(more: Partial<PlantRequest>, timeoutMs: number, onError: () => void = () => {}) {
    const { calls, createMany } = byHand();
    const grouped = groupCommit<true>(createMany as CreateMany<unknown>);
    const create: PlantStorage<true>['create'] = (plant, context) =>
      grouped.create(plant, contextOf(context));
    const options = { timeoutMs, onError };
    const handle = createPlantStore({ create }, acceptTokens('secret'), options);
    create(plant(0), { request, caller: true, signal: new AbortController().signal });
    await turn();
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
    const answering = handle({ ...request, headers, body: '{"id":1,"name":"Rosa canina"}', ...more });
    return { calls, answering, end: () => calls[0]!.answer('created') };
  }

  it.each([
    ['an AbortError', undefined],
    ['a text', 'why'],
    ['an error', new Error('why')],
    ['a null', null],
  ])(
    'returns 50301 and is not sent if its client disconnects with %s, and onError hears nothing',
    async (_reason, reason) => {
      const client = new AbortController();
      const onError = vi.fn();
      const { calls, answering, end } = await waiting({ signal: client.signal }, 0, onError);
      client.abort(reason);
      await end();
      expect(JSON.parse((await answering).body).error).toBe(50301);
      expect(calls).toHaveLength(1);
      expect(onError).not.toHaveBeenCalled();
    },
  );

  it('is not sent if it has timed out', async () => {
    const { calls, answering, end } = await waiting({}, 1);
    expect(JSON.parse((await answering).body).error).toBe(50302);
    await end();
    expect(calls).toHaveLength(1);
  });

  it.each([
    ['has a signal', { signal: new AbortController().signal }],
    ['has no signal', {}],
  ])('is sent if its request %s and its client is there', async (_request, more) => {
    const { calls, answering, end } = await waiting(more, 0);
    await end();
    expect(calls[1]?.ids).toEqual([1]);
    await calls[1]?.answer('created');
    expect((await answering).status).toBe(200);
  });
});

describe('a batch that the database rolled back', () => {
  const conflict = new Error('deadlock detected');

  it("is logged with the database's own words", () => {
    expect(String(new RolledBack('together', conflict))).toMatch(/rolled back: .*deadlock detected/);
  });

  it('together is retried until it is stored', async () => {
    let attempts = 0;
    const { create } = groupCommit(async (plants) => {
      if (++attempts < 4) throw new RolledBack('together', conflict);
      return plants.map(() => 'created' as const);
    });
    expect(await Promise.all([create(plant(1), context), create(plant(2), context)])).toEqual([
      'created',
      'created',
    ]);
    expect(attempts).toBe(4);
  });

  it('together is not retried if the client has disconnected', async () => {
    const sent: number[][] = [];
    const gone = new AbortController();
    const { create } = groupCommit(async (plants) => {
      sent.push(ids(plants));
      if (sent.length > 1) return plants.map(() => 'created' as const);
      gone.abort();
      throw new RolledBack('together', conflict);
    });
    const [left, stayed] = await Promise.allSettled([
      create(plant(1), { ...context, signal: gone.signal }),
      create(plant(2), context),
    ]);
    const reason = expect.objectContaining({ name: 'StorageBusy', cause: gone.signal.reason });
    expect(left).toEqual({ status: 'rejected', reason });
    expect(stayed).toEqual({ status: 'fulfilled', value: 'created' });
    expect(sent).toEqual([[1, 2], [2]]);
  });

  it.each([[[5]], [[0, 1]], [[0, 7, 15]], [Array.from({ length: 16 }, (_, i) => i)]])(
    'apart is searched for the rejected plants, %j, and their neighbours are stored',
    async (faulty) => {
      const fault = new Error('value too long');
      const stored: number[] = [];
      let calls = 0;
      const { create } = groupCommit(async (plants) => {
        calls++;
        if (ids(plants).some((id) => faulty.includes(id))) throw new RolledBack('apart', fault);
        stored.push(...ids(plants));
        return plants.map(() => 'created' as const);
      });
      const all = Array.from({ length: 16 }, (_, i) => i);
      const outcomes = await Promise.allSettled(all.map((id) => create(plant(id), context)));
      for (const id of all) {
        expect(outcomes[id]).toEqual(
          faulty.includes(id)
            ? { status: 'rejected', reason: expect.objectContaining({ name: 'RolledBack', cause: fault }) }
            : { status: 'fulfilled', value: 'created' },
        );
      }
      expect(stored).toEqual(all.filter((id) => !faulty.includes(id)));
      expect(calls).toBeLessThanOrEqual(31);
    },
  );
});

describe('the queue', () => {
  it('has its capacity back, however a create ends', async () => {
    const { create } = groupCommit(
      async (plants) => {
        if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('apart', new Error('bad'));
        if (plants.some(({ name }) => name === 'lost')) throw new Error('lost');
        return plants.map(() => 'created' as const);
      },
      { maxQueued: 8 },
    );
    const gone = { ...context, signal: AbortSignal.abort() };
    for (let round = 0; round < 20; round++) {
      const id = round * 10;
      const creating = [
        create(plant(id), context),
        create(plant(id), context),
        create(plant(id + 1, 'bad'), context),
        create(plant(id + 1, 'bad'), gone),
        create(plant(id + 2), context),
        create(plant(id + 3), gone),
        create(plant(id + 4), context),
        create(plant(id + 4), gone),
      ];
      await expect(create(plant(9), context)).rejects.toMatchObject({ name: 'StorageBusy' });
      await Promise.allSettled(creating);
      await expect(create(plant(id + 5, 'lost'), context)).rejects.toThrow('lost');
    }
  });

  it('stores exactly the plants that it reports as created, whatever fails (10 000 creates)', async () => {
    const plants = new Map<bigint, NewPlant>();
    const memory = memoryStorage(plants);
    let call = 0;
    const { create } = groupCommit(
      async (batch, contexts) => {
        expect(new Set(ids(batch)).size).toBe(batch.length);
        const kind = call++ % 5;
        if (kind === 1) throw new RolledBack('together', new Error('deadlock'));
        if (kind === 2 && batch.length > 1) throw new RolledBack('apart', new Error('fault'));
        if (kind === 3) await turn();
        return Promise.all(batch.map((one, i) => memory.create(one, contexts[i]!)));
      },
      { maxBatch: 64 },
    );
    const creates = Array.from({ length: 10_000 }, (_, i) => plant(i % 7000, `create ${i}`));
    const outcomes = await Promise.all(creates.map((one) => create(one, context)));
    expect(plants.size).toBe(7000);
    for (const [i, one] of creates.entries()) {
      expect(plants.get(one.id)?.name === one.name).toBe(outcomes[i] === 'created');
    }
  });

  it('settles every create and keeps nothing, however ids repeat and batches fail', async () => {
    const creators = 64;
    await fc.assert(
      fc.asyncProperty(
        fc.infiniteStream(fc.nat(9)),
        fc.infiniteStream(fc.constantFrom('lost', 'lost', 'together', 'apart', 'later', 'stored')),
        async (nextId, kinds) => {
          const plants = new Map<bigint, NewPlant>();
          const memory = memoryStorage(plants);
          const { create } = groupCommit(
            async (batch, contexts) => {
              const kind = kinds.next().value;
              if (kind === 'lost') throw new Error('lost');
              if (kind === 'together') throw new RolledBack('together', new Error('deadlock'));
              if (kind === 'apart' && batch.length > 1) throw new RolledBack('apart', new Error('fault'));
              if (kind === 'later') await turn();
              return Promise.all(batch.map((one, i) => memory.create(one, contexts[i]!)));
            },
            // A create that was kept would leave no room for another.
            { maxQueued: creators, maxBatch: 8 },
          );
          const told: string[] = [];
          const creator = async () => {
            for (let i = 0; i < 5; i++) {
              told.push(await create(plant(nextId.next().value), context).catch(({ message }) => message));
            }
          };
          await Promise.all(Array.from({ length: creators }, creator));
          expect(told).toHaveLength(5 * creators);
          expect(told.filter((one) => one === 'created')).toHaveLength(plants.size);
          expect(told.filter((one) => !/^(created|taken|lost)$/.test(one))).toEqual([]);
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('a createMany that changes what it gets', () => {
  type Change = (plants: NewPlant[], contexts: StorageContext<unknown>[]) => void;

  it.each<[string, Change]>([
    [
      'makes the names longer',
      (plants) => plants.forEach((one) => void Object.assign(one, { name: 'x'.repeat(100) })),
    ],
    ['makes the names shorter', (plants) => plants.forEach((one) => void Object.assign(one, { name: '' }))],
    ['sets names to null', (plants) => plants.forEach((one) => void Object.assign(one, { name: null }))],
    ['deletes members', (plants) => plants.forEach((one) => void Reflect.deleteProperty(one, 'name'))],
    ['changes ids', (plants) => plants.forEach((one) => void Object.assign(one, { id: 0n }))],
    ['freezes plants', (plants) => plants.forEach((one) => void Object.freeze(one))],
    ['sorts', (plants) => void plants.reverse()],
    [
      'empties the arrays',
      (plants, contexts) => {
        for (const list of [plants, contexts]) list.splice(0);
      },
    ],
  ])('and %s does not change the bounds, or the plants of the next attempt', async (_, change) => {
    const sent: string[] = [];
    const { create } = groupCommit(
      async (plants, contexts) => {
        const outcomes = plants.map(() => 'created' as const);
        sent.push(plants.map(({ id, name }) => `${id} ${name}`).join());
        const isFirst = sent.length % 2 === 1;
        change(plants as NewPlant[], contexts as StorageContext<unknown>[]);
        if (isFirst) throw new RolledBack('together', new Error('deadlock'));
        return outcomes;
      },
      { maxQueuedText: 30 },
    );
    for (let round = 0; round < 20; round++) {
      const creating = [create(plant(1, 'Rosa canina'), context), create(plant(2, 'Bellis'), context)];
      expect(await Promise.all(creating)).toEqual(['created', 'created']);
    }
    expect(new Set(sent)).toEqual(new Set(['1 Rosa canina,2 Bellis']));
    // The bound is where it was: 30 characters, not one more.
    const full = [create(plant(1, 'x'.repeat(15)), context), create(plant(2, 'x'.repeat(15)), context)];
    await expect(create(plant(3, 'x'), context)).rejects.toMatchObject({ name: 'StorageBusy' });
    await Promise.all(full);
  });

  it('and returns the array of plants, filled with outcomes, has its outcomes read', async () => {
    const { create } = groupCommit(async (plants) => {
      const list = plants as unknown as CreateOutcome[];
      list.forEach((_one, i) => {
        list[i] = 'created';
      });
      return list;
    });
    expect(await Promise.all([create(plant(1), context), create(plant(2), context)])).toEqual([
      'created',
      'created',
    ]);
  });
});

it('the text that is held is that of names and tags', async () => {
  const { create } = groupCommit(byHand().createMany, { maxQueuedText: 10 });
  create({ id: 1n, name: 'a'.repeat(5), tag: 'b'.repeat(5) }, context);
  await expect(create(plant(2, 'c'), context)).rejects.toMatchObject({ name: 'StorageBusy' });
});

describe('groupCommit', () => {
  it.each([
    [{ maxBatch: 0 }, 'maxBatch'],
    [{ maxQueued: 1.5 }, 'maxQueued'],
    [{ maxQueued: Number.POSITIVE_INFINITY }, 'maxQueued'],
    [{ timeoutMs: 2 ** 31 }, 'timeoutMs'],
    [{ timeoutMs: '5' as never }, 'timeoutMs'],
    [{ maxQueuedText: 0 }, 'maxQueuedText'],
    [{ namespace: 'tenant' as never }, 'namespace must be a function'],
    [{ onBatch: true as never }, 'onBatch must be a function'],
    [{ maxbatch: 5 } as never, 'unknown option maxbatch'],
  ])('throws at once for the options %j', (options, message) => {
    expect(() => groupCommit(() => [], options)).toThrow(TypeError);
    expect(() => groupCommit(() => [], options)).toThrow(message);
  });
});
