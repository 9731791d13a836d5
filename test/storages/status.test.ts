// What an operator is told of an outage while it lasts, and when it is over, on a simulated clock.
import {
  acceptTokens,
  type CreateMany,
  createPlantStore,
  type NewPlant,
  PlantRefused,
  RolledBack,
  StorageBusy,
  type StorageStatus,
} from 'plant-store';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  answers,
  hangs,
  open,
  outcomesOf,
  refused,
  refuses,
  rejects,
  type Told,
} from './group-commit-queue.js';

const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
const login = Object.assign(new Error('password authentication failed'), { code: '28P01' });

/** How calls fail, what the report calls it, and the cause of the status. */
const outages: [end: string, behaviour: () => Promise<never>, cause: unknown][] = [
  ['conflict', refuses, refused],
  ['locked', rejects('locked', refused), { cause: refused }],
  ['unusable', rejects('unusable', refused), refused],
  ['unavailable', () => Promise.reject(new StorageBusy('no login', { cause: login })), { cause: login }],
  ['unknown', () => Promise.reject(reset), reset],
];

/** What is written to `console.error` until the test ends. */
function watchConsole() {
  const write = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => write.mockRestore());
  return write;
}

function opened() {
  const told: StorageStatus[] = [];
  const group = open({ onStatus: (status) => void told.push(status) });
  return { ...group, told };
}

describe.each(outages)('calls that end as %s', (_, behaviour, cause) => {
  it('are told once, 1.5 s after the first, and once when plants are stored again', async () => {
    const { clock, create, database, told } = opened();
    database.current = behaviour;
    create(1);
    await clock.advance(1_000);
    create(2);
    await clock.advance(490);
    expect(told).toEqual([]);
    await clock.advance(510);
    expect(told).toMatchObject([{ isWorking: false, cause }]);
    expect(told[0]!.ms).toBeLessThanOrEqual(2_000);
    await clock.advance(28_000);
    database.current = answers;
    create(3);
    await clock.advance(1_000);
    expect(told).toHaveLength(2);
    expect(told[1]).toMatchObject({ isWorking: true, failed: 2 });
    expect(told[1]!.ms).toBeGreaterThan(29_000);
    // Another outage is told again.
    database.current = behaviour;
    create(4);
    await clock.advance(2_000);
    expect(told).toHaveLength(3);
  });

  it('are told to nobody if a plant is stored meanwhile', async () => {
    const { clock, create, database, told } = opened();
    database.current = behaviour;
    create(1);
    await clock.advance(400);
    database.current = answers;
    create(2);
    await clock.advance(10_000);
    expect(told).toEqual([]);
  });

  it('are counted in a row until a plant is stored', async () => {
    const { clock, create, database, queue } = opened();
    database.current = behaviour;
    for (const id of [1, 2, 3]) {
      create(id);
      await clock.advance(30_000);
      expect(queue.state().failedInRow).toBe(id);
    }
    // Its client retries it: that says nothing of others.
    create(3);
    await clock.advance(30_000);
    expect(queue.state().failedInRow).toBe(3);
    database.current = answers;
    create(4);
    await clock.advance(1_000);
    expect(queue.state().failedInRow).toBe(0);
  });
});

/** Of which nothing is sent. */
const unsent: CreateMany<unknown> = (_plants, _contexts, call) => {
  call.sent = false;
  return refuses();
};

it.each<[string, CreateMany<unknown>, number]>([
  ['a login that is refused', () => Promise.reject(new StorageBusy('no login')), 2],
  ['a connection that is refused', unsent, 2],
  ['a database that rolls all back', refuses, 13],
])(
  '%s gets few attempts a second, also once the circuit is open, and the first plant is stored within half a second',
  async (_, behaviour, most) => {
    const { clock, create, createMany, database } = open({}, behaviour);
    const attempts: number[] = [];
    for (let second = 0; second < 30; second++) {
      const before = createMany.mock.calls.length;
      for (let i = 0; i < 50; i++) {
        create(1_000 * second + i);
        await clock.advance(20);
      }
      attempts.push(createMany.mock.calls.length - before);
    }
    // At first the pauses grow, and plants of one batch are tried one by one.
    expect(Math.max(...attempts.slice(10))).toBeLessThanOrEqual(most);
    database.current = answers;
    const next: Told[] = [];
    for (let ms = 0; ms <= 500; ms += 20) {
      next.push(create(100_000 + ms));
      await clock.advance(20);
    }
    expect(outcomesOf(next)).toContain('created');
  },
);

it.each<[string, () => Promise<never>]>([
  ['rejects', rejects('rejected', new Error('too long'))],
  ['refuses', () => Promise.reject(new PlantRefused('too long'))],
])('a storage that %s plants is no outage', async (_, behaviour) => {
  const { clock, create, database, queue, told } = opened();
  database.current = async (plants) => {
    const outcome = await behaviour().catch((error) => error as Error);
    if (outcome instanceof RolledBack) throw outcome;
    return plants.map(() => outcome);
  };
  for (const id of [1, 2, 3]) create(id);
  await clock.advance(30_000);
  expect(told).toEqual([]);
  expect(queue.state().failedInRow).toBe(0);
});

it('plants that the database rejects are counted apart until one is stored, a plant that its client retries once', async () => {
  const { clock, create, database, queue } = open({}, rejects('rejected', new Error('too long')));
  for (const id of [1, 2, 2, 3]) {
    create(id);
    await clock.advance(5_000);
  }
  expect(queue.state()).toMatchObject({
    rejectedInRow: 3,
    rejectingMs: 20_000,
    failedInRow: 0,
    failingMs: null,
  });
  database.current = answers;
  create(4);
  await clock.advance(0);
  expect(queue.state()).toMatchObject({ rejectedInRow: 0, rejectingMs: null });
});

describe('a lock', () => {
  /** Runs it for 1.5 s, and returns what is told of it, and the first create that has failed by then. */
  async function told(ids: readonly number[], behaviour: CreateMany<unknown>, timeoutMs = 1_400) {
    const causes: unknown[] = [];
    const onStatus = (status: StorageStatus) => void (status.isWorking || causes.push(status.cause));
    const { clock, create } = open({ timeoutMs, onStatus }, behaviour);
    const creates = ids.map((id) => create(id));
    await clock.advance(1_500);
    return { causes, creates };
  }
  const lockOf =
    (isLocked: (plants: readonly NewPlant[]) => boolean): CreateMany<unknown> =>
    async (plants, ...rest) =>
      isLocked(plants) ? rejects('locked', refused)() : answers(plants, ...rest);

  it.each([1, 2, 100])(
    'that stops %i creates and stores nothing is told as one of the table, or may be one',
    async (count) => {
      const ids = Array.from({ length: count }, (_, id) => id);
      const message = `another transaction has locked the ${count === 1 ? 'row, or the table' : 'table, or each row that was tried'}`;
      const { causes, creates } = await told(
        ids,
        lockOf(() => true),
      );
      expect(causes).toMatchObject([{ message, cause: refused }]);
      // Of many, some learn that the circuit is open, and this is why.
      const errors = creates.map(({ outcome }) => outcome as Error);
      const causesOf = errors.map((error) => (error.message === 'the circuit is open' ? error.cause : error));
      expect(causesOf).toMatchObject(ids.map(() => ({ message, cause: refused })));
    },
  );

  it('of one row, beside which others are stored, is told as one of a row, and is no outage', async () => {
    const { causes, creates } = await told(
      [1, 2, 3],
      lockOf((plants) => plants.some(({ id }) => id === 2n)),
    );
    expect(causes).toEqual([]);
    const message = 'another transaction has locked the row';
    expect(outcomesOf(creates)).toMatchObject(['created', { message, cause: refused }, 'created']);
  });

  it('is not told of creates of which another one has met something else', async () => {
    const { causes } = await told([1, 2], async (plants) =>
      plants.some(({ id }) => id === 2n) ? refuses() : rejects('locked', refused)(),
    );
    expect(causes).toHaveLength(1);
    expect(causes[0]).not.toMatchObject({ message: expect.stringContaining('has locked the table,') });
  });
});

it('creates that a full queue refuses are not counted: others may be stored meanwhile', async () => {
  const { clock, create, queue } = open({ timeoutMs: 1_000, maxQueued: 2 }, hangs);
  for (const id of [1, 2, 3, 4]) create(id);
  await clock.advance(0);
  expect(queue.state().failedInRow).toBe(0);
  await clock.advance(1_000);
  expect(queue.state().failedInRow).toBe(2);
});

it('creates that an open circuit refuses are counted, too', async () => {
  const { clock, create, queue } = open({ timeoutMs: 1_000 }, refuses);
  create(1);
  await clock.advance(1_000);
  for (const id of [2, 3, 4]) create(id);
  await clock.advance(0);
  // One of them is the probe.
  expect(queue.state().failedInRow).toBe(3);
});

it.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
])('an onStatus that %s changes nothing', async (_, onStatus) => {
  const { clock, create, database } = open({ onStatus: onStatus as () => void }, refuses);
  create(1);
  await clock.advance(2_000);
  database.current = answers;
  const next = create(2);
  await clock.advance(1_000);
  expect(next.outcome).toBe('created');
});

it('by default, a line says so without the text of the error, and a line that it is over', async () => {
  const write = watchConsole();
  const { clock, create, database, queue } = open({}, () => Promise.reject(reset));
  createPlantStore(queue, acceptTokens('secret'));
  create(1);
  await clock.advance(2_000);
  database.current = answers;
  create(2);
  await clock.advance(1_000);
  expect(write.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^plant-store: no plant has been stored for 1\.5 s: the storage threw Error ECONNRESET(?!.*read)/,
      ),
    ],
    ['plant-store: plants are stored again, after 2.0 s in which 1 create failed'],
  ]);
});

it('an app that logs by itself gets no line', async () => {
  const write = watchConsole();
  const { clock, create, queue } = open({}, () => Promise.reject(reset));
  createPlantStore(queue, acceptTokens('secret'), { onError: () => {} });
  create(1);
  await clock.advance(10_000);
  expect(write).not.toHaveBeenCalled();
});
