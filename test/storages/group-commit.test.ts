import {
  type CreateMany,
  type CreateOutcome,
  groupCommit,
  type NewPlant,
  PlantRefused,
  RolledBack,
  StorageBusy,
  type StorageContext,
} from 'plant-store';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { waitFor } from '../support/wait-for.js';
import { contextOf } from './context.js';
import { answers, context, created, hangs, idsOf, open, outcomesOf, plant } from './group-commit-queue.js';

/** How many resources of a kind keep the process alive. */
const active = (kind: string) => process.getActiveResourcesInfo().filter((one) => one === kind).length;

/** A `createMany` that stores whatever it gets, and the ids of its calls. */
function recording() {
  const sent: number[][] = [];
  const createMany: CreateMany<unknown> = async (plants) => {
    sent.push(idsOf(plants));
    return created(plants);
  };
  return { sent, createMany };
}

/** `groupCommit` of a module that is loaded anew, in the globals of this moment. */
async function loadAnew() {
  vi.resetModules();
  return (await import('plant-store')).groupCommit;
}

describe('a batch', () => {
  it.each(['setImmediate', 'MessageChannel'] as const)(
    'also starts on platforms without %s, and not in a microtask; it keeps no process alive',
    async (missing) => {
      const { sent, createMany } = recording();
      const ports = active('MessagePort');
      const { [missing]: removed } = globalThis;
      Reflect.deleteProperty(globalThis, missing);
      const { create } = (await loadAnew())(createMany, { blocksEventLoop: true });
      Object.assign(globalThis, { [missing]: removed });
      create(plant(1), context);
      for (let i = 0; i < 100; i++) await null;
      create(plant(2), context);
      expect(sent).toEqual([]);
      await waitFor(() => expect(sent).toEqual([[1, 2]]));
      await waitFor(() => expect(active('MessagePort')).toBe(ports));
    },
  );

  it('ends before its text fills a statement; a longer plant is sent alone', async () => {
    const { sent, createMany } = recording();
    const { create } = groupCommit(createMany);
    const lengths = [2 ** 17, 2 ** 17, 2 ** 17, 2 ** 17 + 1, 2 ** 21, 5, 5];
    await Promise.all(lengths.map((length, id) => create(plant(id, 'x'.repeat(length)), context)));
    // In any order: the newest batch and the oldest take turns.
    expect(sent.sort(([a], [b]) => a! - b!)).toEqual([[0, 1], [2], [3], [4], [5, 6]]);
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
    ...['stored', null, undefined].map((none): [string, CreateMany<unknown>, RegExp] => [
      `an outcome of ${none}`,
      (plants) => plants.map(() => none as never),
      /'created', 'taken' or an Error/,
    ]),
  ])('fails with %s, because then no outcome is known', async (_, createMany, message) => {
    const calls = vi.fn(createMany);
    const { create } = groupCommit(calls);
    const outcomes = [create(plant(1), context), create(plant(2), context)];
    for (const creating of outcomes) await expect(creating.catch(saidBy)).resolves.toMatch(message);
    expect(calls).toHaveBeenCalledTimes(1);
    await expect(create(plant(1), context).catch(saidBy)).resolves.toMatch(message);
  });
});

describe('a duplicate of a create', () => {
  const lost = new Error('connection lost');
  const notStored = { name: 'StorageBusy', message: 'the storage is unavailable' };

  it.each<[string, string, CreateMany<unknown>, Error, object]>([
    ['with its error', 'may be stored: its call failed', () => Promise.reject(lost), lost, lost],
    ['with its error', 'may be stored: it failed', () => [lost], lost, lost],
    ...[
      new PlantRefused('too thorny'),
      new StorageBusy(),
      new RolledBack('rejected', new Error('a CHECK')),
    ].map((refusal): [string, string, CreateMany<unknown>, Error, object] => [
      'as busy',
      `was definitely not stored: ${refusal}`,
      () => [refusal],
      refusal,
      notStored,
    ]),
  ])(
    'that is not sent until it times out rejects %s if the first %s',
    async (_how, _why, firstAnswer, first, duplicate) => {
      const { clock, create, createMany, database } = open(undefined, firstAnswer);
      createMany.mockImplementationOnce(firstAnswer);
      database.current = () => Promise.reject(new RolledBack('conflict', new Error('refused')));
      const creates = [create(1), create(1)];
      await clock.advance(1_000);
      expect(creates[0]?.outcome).toBe(first);
      expect(creates[1]?.outcome).toMatchObject(duplicate);
      expect(createMany.mock.calls.length).toBeGreaterThan(1);
    },
  );
});

it.each([new Error('a CHECK'), 'a CHECK'])('RolledBack has its cause, and words of its own: %s', (cause) => {
  const message = 'the database rejects a plant, and stored nothing';
  expect(new RolledBack('rejected', cause)).toMatchObject({ message, cause });
});

describe('a namespace', () => {
  it('has ids of its own: creates of one id in two namespaces are one batch, sorted, and no duplicates', async () => {
    const { answersIn, clock, create, createMany, database } = open({ namespace: ({ caller }) => caller });
    database.current = answersIn(5);
    const creates = ['park', 'garden', 'park'].map((caller) => create(1, caller, contextOf(caller)));
    await clock.endTurn();
    expect(outcomesOf(creates)).toEqual(['pending', 'pending', 'pending']);
    await clock.advance(5);
    expect(outcomesOf(creates)).toEqual(['created', 'created', 'taken']);
    expect(createMany).toHaveBeenCalledTimes(1);
    const [plants, contexts] = createMany.mock.calls[0]!;
    expect(plants.map(({ name }) => name)).toEqual(['garden', 'park']);
    expect(contexts.map(({ caller }) => caller)).toEqual(['garden', 'park']);
  });

  // Neither symbols nor objects without a prototype can be sorted.
  it.each([
    ['symbols', [Symbol('park'), Symbol('garden')]],
    ['objects without a prototype', [Object.create(null), Object.create(null)]],
    ['different types', [1, '1']],
  ])('may be any value, compared by ===: %s', async (_, [park, garden]) => {
    const { clock, create, createMany } = open({ namespace: ({ caller }) => caller });
    const creates = [park, garden, park].map((caller) => create(1, 'Rosa', contextOf(caller)));
    await clock.endTurn();
    expect(outcomesOf(creates)).toEqual(['created', 'created', 'taken']);
    expect(createMany).toHaveBeenCalledTimes(1);
  });

  it('that cannot be found fails its create alone', async () => {
    const { create } = groupCommit(answers, {
      namespace: ({ caller }: StorageContext<{ tenant: string }>) => caller.tenant,
    });
    const good = create(plant(1), contextOf({ tenant: 'garden' }));
    await expect(create(plant(1), contextOf(undefined as never))).rejects.toThrow(TypeError);
    expect(await good).toBe('created');
  });
});

describe('a create that is wrong itself', () => {
  const broken = () => {
    throw new Error('broken');
  };
  const withGetter = (target: object, name: string) =>
    Object.defineProperty({ ...target }, name, { get: broken });
  const noPlant = new TypeError(
    'create needs a plant: a bigint id, a string name and, if there is one, a string tag',
  );

  it.each<[string, unknown, unknown, Error]>([
    ['has no name', { id: 1n }, context, noPlant],
    ['has a number as its id', { id: 1, name: 'Rosa' }, context, noPlant],
    ['has a list as its name', { id: 1n, name: ['Rosa'] }, context, noPlant],
    ['has a number as its tag', { id: 1n, name: 'Rosa', tag: 1 }, context, noPlant],
    ['is no plant', undefined, context, expect.any(TypeError)],
    ['has a getter that throws', withGetter({ id: 1n }, 'name'), context, new Error('broken')],
  ])('rejects alone because it %s', async (_, wrong, wrongContext, error) => {
    const { answersIn, clock, create, createPlant, database, sentIds } = open();
    database.current = answersIn(1);
    create(0);
    await clock.endTurn();
    const creates = [createPlant(wrong as NewPlant, wrongContext as StorageContext<unknown>), create(2)];
    await clock.advance(2);
    expect(outcomesOf(creates)).toEqual([error, 'created']);
    create(3);
    await clock.endTurn();
    expect(sentIds()).toEqual([[0], [2], [3]]);
  });
});

it.each<[string, unknown]>([
  ['there is none, as in a script', undefined],
  ['its client has disconnected', { ...context, signal: AbortSignal.abort() }],
  [
    'its signal cannot be read',
    Object.defineProperty({ ...context }, 'signal', { get: () => expect.fail('the signal was read') }),
  ],
])('a create is sent like all others whatever its context: %s', async (_, from) => {
  const { create } = groupCommit(answers);
  const creates = [1, 2, 3].map((id) => create(plant(id), from as StorageContext<unknown>));
  expect(await Promise.all(creates)).toEqual(['created', 'created', 'created']);
});

it('createMany gets plants with all their members, and its outcomes are those of the creates', async () => {
  const createMany = vi.fn<CreateMany<unknown>>(() => ['created', 'taken']);
  const { create } = groupCommit(createMany);
  const [rosa, ilex] = [
    { id: 1n, name: 'Rosa', tag: 'thorny' },
    { id: 2n, name: 'Ilex' },
  ];
  const outcomes = [create(rosa, context), create(ilex, context)];
  expect(await Promise.all(outcomes)).toEqual(['created', 'taken']);
  expect(createMany.mock.calls[0]![0]).toEqual([rosa, ilex]);
});

it('a createMany that returns the array of plants, filled with outcomes, has its outcomes read', async () => {
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

it('on Workers each create is sent on its own, and the state is that of an empty queue', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { answersIn, clock, create, database, queue, sentIds } = open();
  const empty = queue.state();
  database.current = answersIn(5);
  const creates = [create(1), create(2)];
  await clock.advance(1);
  expect(sentIds()).toEqual([[1], [2]]);
  expect(queue.state()).toEqual(empty);
  await clock.advance(4);
  expect(outcomesOf(creates)).toEqual(['created', 'created']);
});

describe('groupCommit', () => {
  const full = expect.objectContaining({ name: 'StorageBusy', message: 'the storage queue is full' });

  it('sends at most 256 plants in a batch by default', async () => {
    const { clock, create, createMany } = open({});
    create(0);
    await clock.endTurn();
    for (let id = 1; id <= 300; id++) create(id);
    await clock.endTurn();
    expect(createMany.mock.calls.map(([plants]) => plants.length)).toEqual([1, 256, 44]);
  });

  it('takes 10 000 pending creates by default', async () => {
    const { clock, create } = open({}, hangs);
    const creates = Array.from({ length: 10_001 }, (_, id) => create(id));
    await clock.endTurn();
    expect(outcomesOf(creates.slice(-2))).toEqual(['pending', full]);
  });

  it('takes pending creates with 33 554 432 characters by default', async () => {
    const { clock, create } = open({}, hangs);
    const creates = [33_554_431, 1, 1].map((length, id) => create(id, 'x'.repeat(length)));
    await clock.endTurn();
    expect(outcomesOf(creates)).toEqual(['pending', 'pending', full]);
  });

  it('lets a create take 10 s by default', async () => {
    const { clock, create } = open({}, hangs);
    const told = create(1);
    await clock.advance(20_000);
    expect(told).toMatchObject({ outcome: { name: 'TimeoutError' }, after: 10_000 });
  });

  it('takes 1 for each number', () => {
    const least = { maxBatch: 1, maxQueued: 1, maxQueuedText: 1, timeoutMs: 1 };
    expect(() => groupCommit(answers, least)).not.toThrow();
  });

  it.each([
    [{ maxBatch: 0 }, 'maxBatch'],
    [{ maxQueued: 1.5 }, 'maxQueued'],
    [{ maxQueued: Number.POSITIVE_INFINITY }, 'maxQueued'],
    [{ timeoutMs: 2 ** 31 }, 'timeoutMs'],
    [{ timeoutMs: '5' as never }, 'timeoutMs'],
    [{ maxQueuedText: 0 }, 'maxQueuedText'],
    [{ namespace: 'tenant' as never }, 'namespace must be a function'],
    [{ blocksEventLoop: 1 as never }, 'blocksEventLoop must be true or false'],
    [{ onBatch: true as never }, 'onBatch must be a function'],
    [{ maxbatch: 5 } as never, 'unknown option maxbatch'],
  ])('throws at once for the options %j', (options, message) => {
    expect(() => groupCommit(() => [], options)).toThrow(TypeError);
    expect(() => groupCommit(() => [], options)).toThrow(message);
  });
});
