// Batches that take too long shrink: on a simulated clock, a trigger takes 60 ms for each row.
import { type BatchReport, type CreateMany, RolledBack } from 'plant-store';
import { describe, expect, it } from 'vitest';
import { answers, context, created, hangs, open, outcomesOf, type Told } from './group-commit-queue.js';

const rowMs = 60;
const timeoutMs = 10_000;
const expired = new Error('canceling statement due to statement timeout');

/** A queue whose database takes `msOf` a row, and cancels a statement after 5 s. */
function openWithTrigger(msOf: () => number = () => rowMs) {
  const reports: BatchReport[] = [];
  const behaviour: CreateMany<unknown> = async (plants) => {
    const ms = 1 + msOf() * plants.length;
    await opened.clock.sleep(Math.min(ms, 5_000));
    if (ms > 5_000) throw new RolledBack('rejected', expired);
    return created(plants);
  };
  const opened = open({ timeoutMs, onBatch: (report) => void reports.push(report) }, behaviour);
  return { ...opened, reports };
}

/** The same, after a create for which it took no time: the next batch is then as large as it can be. */
async function openBeforeTrigger() {
  let msOfRow = 0;
  const opened = openWithTrigger(() => msOfRow);
  opened.create(-1);
  await opened.clock.advance(10);
  msOfRow = rowMs;
  return opened;
}

/** Keeps a create of each of 300 clients pending, for `ms` milliseconds; the clients begin at once, or 1 ms apart. */
async function keepPending(
  { clock, queue }: ReturnType<typeof open>,
  ms: number,
  begin: 'at once' | 'apart',
) {
  const told: Told[] = [];
  let id = 0;
  const next = () => {
    const start = clock.now();
    if (start >= ms) return;
    const settle = (outcome: unknown) => {
      told.push({ outcome, after: clock.now() - start });
      clock.setTimer(next, 1);
    };
    queue.create({ id: BigInt(++id), name: 'Rosa' }, context).then(settle, settle);
  };
  for (let i = 0; i < 300; i++) {
    if (begin === 'at once') next();
    else clock.setTimer(next, i);
  }
  await clock.advance(ms);
  return told;
}

const isStored = ({ outcome }: Told) => outcome === 'created';
const isBusy = ({ outcome }: Told) => (outcome as Error).name === 'StorageBusy';
const isUnknown = (told: Told) => !isStored(told) && !isBusy(told);

describe.each([
  ['apart', 25_000],
  ['at once', 25_000],
] as const)('a trigger of 60 ms a row and 300 clients that begin %s', (begin, ms) => {
  it('leave no outcome unknown, and store nine tenths of the plants of a loop by hand', async () => {
    const told = await keepPending(openWithTrigger(), ms, begin);
    expect(told.filter(isUnknown)).toEqual([]);
    expect(told.filter(isStored).length).toBeGreaterThanOrEqual((0.9 * ms) / (rowMs + 1));
  });

  it('let no call expire, and most take an eighth of the timeout, or up to two rows less', async () => {
    const opened = openWithTrigger();
    await keepPending(opened, ms, begin);
    const { reports } = opened;
    expect(reports.filter(({ end }) => end === 'rejected')).toEqual([]);
    const usual = reports.slice(2, -1).map((report) => report.ms);
    const median = usual.sort((a, b) => a - b)[Math.floor(usual.length / 2)];
    expect(Math.max(...usual)).toBeLessThanOrEqual(timeoutMs / 8);
    expect(median).toBeGreaterThan(timeoutMs / 8 - 2 * rowMs);
  });
});

it('creates that come while a batch expires are not sent in one as large', async () => {
  const { clock, create, reports } = await openBeforeTrigger();
  for (let id = 0; id < 256; id++) create(id);
  await clock.advance(1);
  for (let id = 256; id < 512; id++) create(id);
  await clock.advance(timeoutMs);
  expect(reports[1]).toMatchObject({ end: 'rejected', plants: 256 });
  // It has shown 5 s for 256 plants at least: an eighth of the timeout is then enough for 64.
  expect(Math.max(...reports.slice(2).map(({ plants }) => plants))).toBeLessThanOrEqual(64);
});

it('a batch that has expired is not sent whole again, and leaves no outcome unknown', async () => {
  const { clock, create, reports } = await openBeforeTrigger();
  const told = Array.from({ length: 256 }, (_, id) => create(id));
  await clock.advance(timeoutMs);
  expect(reports.filter(({ end }) => end === 'rejected').map(({ plants }) => plants)).toEqual([256]);
  expect(told.filter(isUnknown)).toEqual([]);
  expect(told.filter(isStored).length).toBeGreaterThanOrEqual(64);
});

it('a create is sent unless its call, half as long again as the last one for each plant, may outlast it', async () => {
  let calls = 0;
  const told = await keepPending(
    openWithTrigger(() => (calls++ % 2 ? 1.45 * rowMs : rowMs)),
    60_000,
    'apart',
  );
  expect(told.filter(isUnknown)).toEqual([]);
  const refused = told.filter(isBusy).map(({ after }) => after);
  expect(refused.length).toBeGreaterThan(0);
  expect(Math.min(...refused)).toBeGreaterThanOrEqual((1 - 1.5 / 8) * timeoutMs - 1);
});

it.each([
  [1_055, 10],
  [1_050, 9],
  [1_045, 9],
])(
  'of creates that are called at once, with a timeout of %i ms, %i are sent in calls of 100 ms: each has more than 150 ms left',
  async (limit, sent) => {
    const { answersIn, clock, create, createMany, database } = open({ timeoutMs: limit, maxBatch: 1 });
    database.current = answersIn(100);
    const told = Array.from({ length: 12 }, (_, id) => create(id));
    await clock.advance(limit);
    expect(createMany).toHaveBeenCalledTimes(sent);
    expect(told.filter(isStored).length).toBe(sent);
  },
);

describe('a batch has as many plants as may be', () => {
  it.each<[string, number, number[], boolean]>([
    ['after a short call', 1, [256], true],
    ['after one call that took long: the next one shows that the database is fast', 3_000, [1, 255], true],
    ['after a connection that dropped soon: it shows nothing of the plants', timeoutMs / 8, [256], false],
  ])('%s', async (_, ms, sizes, isSettled) => {
    const { answersIn, clock, create, createMany, database } = open({ timeoutMs });
    create(-1);
    await clock.endTurn();
    database.current = async (plants) => {
      await clock.sleep(ms);
      if (!isSettled) throw new Error('connection lost');
      return created(plants);
    };
    create(0);
    await clock.advance(5_000);
    database.current = answersIn(1);
    createMany.mockClear();
    const creates = Array.from({ length: 256 }, (_create, i) => create(1 + i));
    await clock.advance(1_000);
    expect(outcomesOf(creates)).toEqual(creates.map(() => 'created'));
    expect(createMany.mock.calls.map(([plants]) => plants.length)).toEqual(sizes);
  });

  it('after a call that waited for its connection: it was sent in a short time', async () => {
    const { answersIn, clock, create, createMany, database } = open({ timeoutMs });
    database.current = async (plants, contexts, call) => {
      call.sent = false;
      await clock.sleep(3_000);
      call.sent = true;
      return answersIn(1)(plants, contexts, call);
    };
    create(-1);
    await clock.advance(4_000);
    database.current = answersIn(1);
    for (let id = 0; id < 256; id++) create(id);
    await clock.advance(10);
    expect(createMany.mock.calls.map(([plants]) => plants.length)).toEqual([1, 256]);
  });

  it('but one, after a call of several statements that took long: its time is that from the first on', async () => {
    const { answersIn, clock, create, createMany, database } = open({ timeoutMs });
    database.current = async (plants) => {
      const call = createMany.mock.lastCall![2];
      call.sent = false;
      await clock.sleep(3_000);
      call.sent = true;
      await clock.sleep(timeoutMs / 8);
      call.sent = true;
      return created(plants);
    };
    create(-1);
    await clock.advance(5_000);
    database.current = answersIn(1);
    for (let id = 0; id < 256; id++) create(id);
    await clock.advance(10);
    expect(createMany.mock.calls.map(([plants]) => plants.length)).toEqual([1, 1, 255]);
  });

  it('but the first call has 16, because nothing is known yet', async () => {
    const { clock, create, createMany } = open({ timeoutMs });
    for (let id = 0; id < 256; id++) create(id);
    await clock.endTurn();
    expect(createMany.mock.calls.map(([plants]) => plants.length)).toEqual([16, 240]);
  });

  it('and a probe is sent, however long the last call took', async () => {
    const { clock, create, database } = open({ timeoutMs }, hangs);
    create(1);
    await clock.advance(timeoutMs);
    database.current = answers;
    const probe = create(2);
    await clock.endTurn();
    expect(probe.outcome).toBe('created');
  });
});

describe('a database whose calls take more than half of the time of a create', () => {
  it('is still sent each create that comes', async () => {
    const { answersIn, clock, database, create } = open({ timeoutMs: 1_000 });
    database.current = answersIn(700);
    for (const id of [1, 2, 3]) {
      const told = create(id);
      await clock.advance(800);
      expect(told.outcome).toBe('created');
    }
  });

  it.each([
    ['conflict', 500],
    ['locked', 600],
  ] as const)(
    'is not sent creates again that it rolled back as a %s after %i ms of 1 000',
    async (reason, ms) => {
      const { clock, database, create, sentIds } = open({ timeoutMs: 1_000 });
      database.current = async () => {
        await clock.sleep(ms);
        throw new RolledBack(reason, new Error('statement timeout'));
      };
      const told = [create(1), create(2)];
      await clock.advance(2_000);
      expect(sentIds()).toHaveLength(1);
      expect(outcomesOf(told)).toEqual([1, 2].map(() => expect.objectContaining({ name: 'StorageBusy' })));
    },
  );
});
