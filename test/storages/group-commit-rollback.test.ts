// What becomes of creates that the database has rolled back: locked rows, outages, faults of a program, on a simulated clock.
import { type CreateMany, createPlantStore, RolledBack } from 'plant-store';
import { describe, expect, it, vi } from 'vitest';
import { createRequest } from '../support/plants.js';
import { answers, created, open, outcomesOf } from './group-commit-queue.js';

const locked = new Error('canceling statement due to lock timeout');
const refused = new Error('connection refused');
const rejects = (resend: 'together' | 'apart' | 'alone', cause: unknown) => () =>
  Promise.reject(new RolledBack(resend, cause));

/** A queue whose database waits `waitMs` for the lock of id 5 while it is locked. */
function openWithLock(timeoutMs: number, waitMs: () => number) {
  const isLocked = { current: true };
  const reports: string[] = [];
  const attempts: number[] = [];
  const behaviour: CreateMany<unknown> = async (plants) => {
    const isTouched = plants.some(({ id }) => id === 5n);
    if (isTouched && plants.length === 1) attempts.push(opened.clock.now());
    if (!isTouched || !isLocked.current) return created(plants);
    await opened.clock.sleep(waitMs());
    throw new RolledBack('alone', locked);
  };
  const onBatch = ({ end, isOpen }: { end: string; isOpen: boolean }) =>
    void reports.push(isOpen ? `${end}, open` : end);
  const opened = open({ timeoutMs, onBatch }, behaviour);
  return { ...opened, isLocked, reports, attempts };
}

/** Pauses of 5, 10, 20 … 320 and 500 ms. */
const longestPauses = () => vi.spyOn(Math, 'random').mockReturnValue(1);

describe('a locked row', () => {
  it('is named when its create times out, and opens no circuit, although nobody else creates a plant', async () => {
    const { clock, create, reports } = openWithLock(1_000, () => 20);
    const told = create(5);
    await clock.advance(1_000);
    expect(told.outcome).toMatchObject({
      name: 'StorageBusy',
      message: 'another transaction has locked the row',
      cause: locked,
    });
    expect(new Set(reports)).toEqual(new Set(['together']));
    const others = [create(1), create(2)];
    await clock.endTurn();
    expect(outcomesOf(others)).toEqual(['created', 'created']);
  });

  it('closes a circuit that is open: the database responds', async () => {
    const { clock, create, database } = openWithLock(1_000, () => 20);
    const behaviour = database.current;
    database.current = rejects('together', refused);
    create(1);
    await clock.advance(1_000);
    database.current = behaviour;
    create(5);
    await clock.advance(21);
    const others = [create(2), create(3)];
    await clock.endTurn();
    expect(outcomesOf(others)).toEqual(['created', 'created']);
  });

  it('is found in a batch by its parts, and the others are stored', async () => {
    const { clock, create, reports } = openWithLock(1_000, () => 20);
    const creates = [4, 5, 6].map((id) => create(id));
    await clock.advance(100);
    expect(outcomesOf(creates)).toEqual(['created', 'pending', 'created']);
    expect(reports[0]).toBe('apart');
    await clock.advance(1_000);
    expect(creates[1]?.outcome).toMatchObject({ message: 'another transaction has locked the row' });
  });

  it('leaves the creates that joined it to be sent, if the first of them is rejected', async () => {
    const { clock, create, database, isLocked } = openWithLock(10_000, () => 20);
    const bad = create(5, 'bad');
    await clock.advance(100);
    const good = create(5, 'good');
    await clock.advance(1_000);
    expect(outcomesOf([bad, good])).toEqual(['pending', 'pending']);
    isLocked.current = false;
    const fault = new Error('a CHECK');
    database.current = async (plants) => {
      if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('apart', fault);
      return created(plants);
    };
    await clock.advance(1_000);
    expect(outcomesOf([bad, good])).toEqual([expect.objectContaining({ cause: fault }), 'created']);
  });

  it('takes no later create of its id with it when its create has timed out', async () => {
    const dice = longestPauses();
    const { clock, create, database } = open({ timeoutMs: 1_000 }, rejects('together', refused));
    create(5);
    // In a pause of 500 ms.
    await clock.advance(1_000);
    database.current = answers;
    const probe = create(5);
    await clock.endTurn();
    expect(probe.outcome).toBe('created');
    dice.mockRestore();
  });

  it('is retried while a wait half as long again still ends before the timeout', async () => {
    const dice = longestPauses();
    // Attempts of 20 ms begin at 0, 25, 55, 95, 155, 255, 435, 775 and 1 295 ms.
    for (const [timeoutMs, last] of [
      [1_326, 1_295],
      [1_324, 775],
    ] as const) {
      const { attempts, clock, create } = openWithLock(timeoutMs, () => 20);
      const told = create(5);
      await clock.advance(2_000);
      expect(attempts.at(-1)).toBe(last);
      expect(told.outcome).toMatchObject({ name: 'StorageBusy' });
    }
    dice.mockRestore();
  });

  it('leaves no outcome unknown if each wait takes up to half as long again as the last', async () => {
    const dice = longestPauses();
    for (let timeoutMs = 1_290; timeoutMs < 1_340; timeoutMs++) {
      let waits = 0;
      const { clock, create } = openWithLock(timeoutMs, () => (waits++ < 8 ? 20 : 29));
      const told = create(5);
      await clock.advance(2_000);
      expect(told.outcome).toMatchObject({ name: 'StorageBusy' });
    }
    dice.mockRestore();
  });
});

it.each(['together', 'alone'] as const)(
  'a storage that throws RolledBack %s is busy: 50301',
  async (resend) => {
    const storage = { create: rejects(resend, locked) };
    const handle = createPlantStore(storage, () => true, { onError: () => {} });
    expect(await handle(createRequest('good'))).toMatchObject({ status: 503, error: 50301 });
  },
);

describe('a create that times out with nothing stored', () => {
  it('says that it was not sent, if it was not', async () => {
    const { answersIn, clock, create, database } = open({ timeoutMs: 1_000, maxBatch: 1 });
    database.current = answersIn(400);
    const creates = [1, 2, 3, 4].map((id) => create(id));
    await clock.advance(1_000);
    expect(creates.at(-1)?.outcome).toMatchObject({
      name: 'StorageBusy',
      message: 'the plant waited in the queue until too little of its timeout was left, and was not sent',
    });
  });

  it.each([
    ['was rejected', 'apart'],
    ['is locked', 'alone'],
  ] as const)('says that its batch was rolled back, if another plant of it %s', async (_, resend) => {
    const { clock, create, database } = open({ timeoutMs: 1_000 });
    const fault = new Error('a CHECK or a lock');
    database.current = async () => {
      await clock.sleep(100);
      throw new RolledBack(resend, fault);
    };
    const creates = Array.from({ length: 16 }, (_, id) => create(id));
    await clock.advance(1_000);
    // After a call with all, four with four, and some with one plant.
    expect(creates[15]?.outcome).toMatchObject({
      name: 'StorageBusy',
      message: expect.stringMatching(/after its batch was rolled back$/),
      cause: fault,
    });
    const next = create(16);
    database.current = answers;
    await clock.advance(300);
    expect(next.outcome).toBe('created');
  });
});

describe('an outage', () => {
  /** The second create times out at 1 001 ms, if the database stores the first one after `ms` and then is unavailable. */
  async function outageAfter(ms: number) {
    const { answersIn, clock, create, database, sentIds } = open({ timeoutMs: 1_000 });
    database.current = answersIn(ms);
    create(1);
    await clock.advance(1);
    create(2);
    database.current = rejects('together', refused);
    await clock.advance(1_001);
    const next = [3, 4].map((id) => create(id));
    await clock.endTurn();
    return { next, sentIds };
  }

  it('opens the circuit, although the call before it was stored after a create that it ended was called', async () => {
    const { next } = await outageAfter(101);
    expect(next[1]?.outcome).toMatchObject({ message: 'the circuit is open', cause: refused });
  });

  it('opens none if the database has stored a plant in the last nine tenths of the timeout', async () => {
    const { next } = await outageAfter(102);
    expect(outcomesOf(next)).toEqual(['pending', 'pending']);
  });
});

it('a create that has timed out opens no circuit later, while others of its batch are retried', async () => {
  const { answersIn, clock, create, database, queue } = open({ timeoutMs: 1_000 });
  const dice = vi.spyOn(Math, 'random').mockReturnValue(0);
  database.current = answersIn(200);
  for (let id = 0; id < 16; id++) create(id);
  await clock.advance(1);
  const old = create(16);
  await clock.advance(198);
  const young = create(17);
  // From 200 ms on. The last attempt begins at 1 152.5 ms: more than nine tenths of the timeout after the last response.
  database.current = async () => {
    await clock.sleep(15);
    throw new RolledBack('together', refused);
  };
  await clock.advance(1_160 - 199);
  expect(old.outcome).toMatchObject({ message: 'the storage is unavailable' });
  expect(young.outcome).toBe('pending');
  expect(queue.state()).toMatchObject({ isOpen: false, inFlightSince: 7.5 });
  await clock.advance(40);
  expect(young.outcome).toMatchObject({ name: 'StorageBusy' });
  expect(queue.state()).toMatchObject({ isOpen: true });
  dice.mockRestore();
});

describe('a call that is rolled back together', () => {
  it.each([
    ['whole before others are sent, if it has several plants', [1, 2], 1],
    ['while others are sent, if it has one: its row may be locked', [1], 2],
  ])('is retried %s', async (_, ids, calls) => {
    const { clock, create, createMany, database } = open({ timeoutMs: 1_000 });
    database.current = rejects('together', refused);
    for (const id of ids) create(id);
    await clock.endTurn();
    database.current = answers;
    const other = create(3);
    await clock.endTurn();
    expect(createMany).toHaveBeenCalledTimes(calls);
    await clock.advance(10);
    expect(other.outcome).toBe('created');
  });

  it('is the only one as a probe, also between its attempts', async () => {
    const { clock, create } = open({ timeoutMs: 1_000 }, rejects('together', refused));
    create(1);
    await clock.advance(1_000);
    create(2);
    for (let i = 0; i < 20; i++) {
      await clock.advance(10);
      const other = create(3);
      await clock.endTurn();
      expect(other.outcome).toMatchObject({ message: 'the circuit is open' });
    }
  });
});

describe('a call that times out', () => {
  const unsent: CreateMany<unknown> = (_plants, _contexts, call) => {
    call.sent = false;
    return new Promise(() => {});
  };

  it('says within which limit the storage did not answer, and whether that was a probe', async () => {
    const { clock, create } = open({ timeoutMs: 1_000 }, () => new Promise(() => {}));
    const told = create(1);
    await clock.advance(1_000);
    const probe = create(2);
    await clock.advance(1_000);
    expect(told.outcome).toMatchObject({ message: 'the storage did not answer within 1000 ms' });
    expect(probe.outcome).toMatchObject({
      message: 'the storage did not answer within 250 ms, the limit of a probe while the circuit is open',
    });
  });

  it('before it was sent says so, and gives the next probe no more time', async () => {
    const { clock, create } = open({ timeoutMs: 1_000 }, unsent);
    const told = create(1);
    await clock.advance(1_000);
    expect(told.outcome).toMatchObject({
      message: 'the storage is unavailable',
      cause: { name: 'TimeoutError', message: 'the storage did not send within 1000 ms' },
    });
    for (let id = 2; id < 5; id++) {
      const probe = create(id);
      await clock.advance(1_000);
      expect(probe.after).toBe(250);
    }
  });
});

describe('a fault of the program', () => {
  const faults = [
    new TypeError("Cannot read properties of undefined (reading 'length')"),
    new RangeError('Invalid array length'),
    new ReferenceError('pool is not defined'),
    new SyntaxError('Unexpected token'),
  ];

  it.each(faults)(
    'that rolled back a call rejects its creates at once, duplicates too: %s',
    async (fault) => {
      for (const resend of ['together', 'alone'] as const) {
        const reports: string[] = [];
        const onBatch = ({ end, isOpen }: { end: string; isOpen: boolean }) =>
          void reports.push(`${end} ${isOpen}`);
        const { clock, create, createMany, database } = open(
          { timeoutMs: 1_000, onBatch },
          rejects(resend, fault),
        );
        const creates = [1, 2, 2].map((id) => create(id));
        await clock.endTurn();
        const rejected = expect.objectContaining({ name: 'RolledBack', resend: 'apart', cause: fault });
        expect(outcomesOf(creates)).toEqual([rejected, rejected, rejected]);
        expect(createMany).toHaveBeenCalledTimes(1);
        expect(reports).toEqual(['failed false']);
        expect(clock.timerCount).toBe(0);
        database.current = answers;
        const next = [3, 4].map((id) => create(id));
        await clock.endTurn();
        expect(outcomesOf(next)).toEqual(['created', 'created']);
      }
    },
  );

  it.each(faults)(
    'with an unknown outcome rejects its creates at once, duplicates too: %s',
    async (fault) => {
      const { clock, create, createMany } = open({ timeoutMs: 1_000 }, () => Promise.reject(fault));
      const creates = [1, 2, 2].map((id) => create(id));
      await clock.endTurn();
      expect(outcomesOf(creates)).toEqual([fault, fault, fault]);
      expect(createMany).toHaveBeenCalledTimes(1);
    },
  );

  it('may be one of a plant, if the database rejected it: the others are stored', async () => {
    const fault = new RangeError('The bound string is too big');
    const { clock, create } = open({ timeoutMs: 1_000 }, async (plants) => {
      if (plants.some(({ id }) => id === 2n)) throw new RolledBack('apart', fault);
      return created(plants);
    });
    const creates = [1, 2, 3].map((id) => create(id));
    await clock.endTurn();
    const rejected = expect.objectContaining({ name: 'RolledBack', cause: fault });
    expect(outcomesOf(creates)).toEqual(['created', rejected, 'created']);
  });

  it('is none if it is how fetch reports an outage: a TypeError with a cause', async () => {
    const outage = new TypeError('fetch failed', { cause: refused });
    const { clock, create, database } = open({ timeoutMs: 1_000 }, rejects('together', outage));
    const told = create(1);
    await clock.advance(100);
    expect(told.outcome).toBe('pending');
    database.current = answers;
    await clock.advance(500);
    expect(told.outcome).toBe('created');
  });
});
