// What becomes of creates that the database has rolled back: locked rows, outages, faults of a program, on a simulated clock.
import { type CreateMany, createPlantStore, RolledBack } from 'plant-store';
import { describe, expect, it, vi } from 'vitest';
import { createRequest } from '../support/plants.js';
import {
  answers,
  created,
  hangs,
  open,
  outcomesOf,
  refused,
  refuses,
  rejects,
  type Told,
} from './group-commit-queue.js';

const locked = new Error('canceling statement due to lock timeout');

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
    throw new RolledBack('locked', locked);
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
      message: 'another transaction has locked the row, or the table',
      cause: locked,
    });
    expect(new Set(reports)).toEqual(new Set(['locked']));
    const others = [create(1), create(2)];
    await clock.endTurn();
    expect(outcomesOf(others)).toEqual(['created', 'created']);
  });

  it('closes no circuit that is open, because the table may be locked; the next create does, if its row is free', async () => {
    const { clock, create, database } = openWithLock(1_000, () => 20);
    const behaviour = database.current;
    database.current = refuses;
    create(1);
    await clock.advance(1_000);
    database.current = behaviour;
    const told = create(5);
    await clock.advance(250);
    expect(told.outcome).toMatchObject({ name: 'StorageBusy' });
    // A pause before the next statement ends.
    await clock.advance(100);
    create(2);
    await clock.advance(100);
    const others = [create(3), create(4)];
    await clock.endTurn();
    expect(outcomesOf(others)).toEqual(['created', 'created']);
  });

  it('is found in a batch by its parts, and the others are stored', async () => {
    const { clock, create, reports } = openWithLock(1_000, () => 20);
    const creates = [4, 5, 6].map((id) => create(id));
    await clock.advance(100);
    expect(outcomesOf(creates)).toEqual(['created', 'pending', 'created']);
    expect(reports[0]).toBe('locked');
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
      if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('rejected', fault);
      return created(plants);
    };
    await clock.advance(1_000);
    expect(outcomesOf([bad, good])).toEqual([expect.objectContaining({ cause: fault }), 'created']);
  });

  it('takes no later create of its id with it when its create has timed out', async () => {
    const dice = longestPauses();
    const { clock, create, database } = open({ timeoutMs: 1_000 }, refuses);
    create(5);
    // In a pause of 500 ms.
    await clock.advance(1_000);
    database.current = answers;
    const probe = create(5);
    await clock.endTurn();
    expect(probe.outcome).toBe('created');
    dice.mockRestore();
  });

  it('is retried while a wait twice as long still ends before the timeout', async () => {
    const dice = longestPauses();
    // Attempts of 20 ms begin at 0, 25, 55, 95, 155, 255, 435, 775 and 1 295 ms.
    for (const [timeoutMs, last] of [
      [1_336, 1_295],
      [1_334, 775],
    ] as const) {
      const { attempts, clock, create } = openWithLock(timeoutMs, () => 20);
      const told = create(5);
      await clock.advance(2_000);
      expect(attempts.at(-1)).toBe(last);
      expect(told.outcome).toMatchObject({ name: 'StorageBusy' });
    }
    dice.mockRestore();
  });

  it('leaves no outcome unknown if each wait takes up to twice as long as the last', async () => {
    const dice = longestPauses();
    for (let timeoutMs = 1_290; timeoutMs < 1_350; timeoutMs++) {
      let waits = 0;
      const { clock, create } = openWithLock(timeoutMs, () => (waits++ < 8 ? 20 : 39));
      const told = create(5);
      await clock.advance(2_000);
      expect(told.outcome).toMatchObject({ name: 'StorageBusy' });
    }
    dice.mockRestore();
  });
});

it.each(['conflict', 'locked'] as const)(
  'a storage that throws RolledBack %s is busy: 50301',
  async (reason) => {
    const storage = { create: rejects(reason, locked) };
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

  it('says that its batch was rolled back, if another plant of it was rejected', async () => {
    const { clock, create, database } = open({ timeoutMs: 1_000 });
    const fault = new Error('a CHECK');
    database.current = async () => {
      await clock.sleep(100);
      throw new RolledBack('rejected', fault);
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
    database.current = refuses;
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

/** A queue whose database rolls back every plant while it is away, and one plant always. */
function openWithTrigger(reason: 'conflict' | 'locked') {
  const state = { isAway: false, calls: 0 };
  const opened = open({ timeoutMs: 10_000 }, async (plants) => {
    state.calls++;
    await opened.clock.sleep(1);
    if (state.isAway || plants.some(({ name }) => name === 'quota')) throw new RolledBack(reason, refused);
    return created(plants);
  });
  return { ...opened, state };
}

describe.each(['conflict', 'locked'] as const)('a database that rolls back by %s', (reason) => {
  it('one plant: the others are stored at once, and no circuit opens', async () => {
    const { clock, create, queue, state } = openWithTrigger(reason);
    let id = 0;
    const bad: Told[] = [];
    const good: Told[] = [];
    for (let second = 0; second < 30; second++) {
      bad.push(create(++id, 'quota'));
      for (let i = 0; i < 50; i++) {
        for (let client = 0; client < 16; client++) good.push(create(++id));
        await clock.advance(20);
        expect(queue.state().isOpen).toBe(false);
      }
    }
    await clock.advance(10_000);
    expect(new Set(outcomesOf(good))).toEqual(new Set(['created']));
    // A call takes 1 ms: a batch that is sent in parts takes ten, in turns with the next batch.
    expect(Math.max(...good.map(({ after }) => after))).toBeLessThan(20);
    expect(new Set(bad.map(({ outcome }) => (outcome as Error).name))).toEqual(new Set(['StorageBusy']));
    expect(state.calls).toBeLessThan(30 * 50 * 2 + 30 * 60);
  });

  it.each([1, 16, 1_000])(
    'all %i plants, for a while: it gets ten statements a second, and stores all when it is over',
    async (count) => {
      const { clock, create, queue, state } = openWithTrigger(reason);
      state.isAway = true;
      const creates = Array.from({ length: count }, (_, id) => create(id));
      await clock.advance(8_000);
      expect(state.calls).toBeLessThan(4 + 80);
      expect(queue.state().isOpen).toBe(false);
      state.isAway = false;
      await clock.advance(1_999);
      expect(new Set(outcomesOf(creates))).toEqual(new Set(['created']));
    },
  );

  it('all of several plants, for longer than their timeout: it opens the circuit', async () => {
    const { clock, create, state } = openWithTrigger(reason);
    state.isAway = true;
    const creates = Array.from({ length: 16 }, (_, id) => create(id));
    await clock.advance(10_000);
    expect(new Set(creates.map(({ outcome }) => (outcome as Error).name))).toEqual(new Set(['StorageBusy']));
    await clock.advance(100);
    const probe = create(100);
    const other = create(101);
    await clock.advance(1);
    const lock = {
      message: 'another transaction has locked the table, or each row that was tried',
      cause: refused,
    };
    const cause = reason === 'locked' ? lock : refused;
    expect(other.outcome).toMatchObject({ message: 'the circuit is open', cause });
    state.isAway = false;
    await clock.advance(250);
    expect(probe.outcome).toBe('created');
  });
});

describe('a call that is rolled back', () => {
  it('is the only one as a probe, also between its attempts', async () => {
    const { clock, create } = open({ timeoutMs: 1_000 }, refuses);
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
    const { clock, create } = open({ timeoutMs: 1_000 }, hangs);
    const told = create(1);
    await clock.advance(1_000);
    const probe = create(2);
    await clock.advance(1_000);
    expect(told.outcome).toMatchObject({ message: 'the storage did not answer within 1000 ms' });
    expect(probe.outcome).toMatchObject({
      message: 'the storage did not answer within 250 ms, the limit of a probe while the circuit is open',
    });
  });

  it('before it was sent says so, and gives the next probe twice the time, which a login may take', async () => {
    const { clock, create } = open({ timeoutMs: 1_000 }, unsent);
    const told = create(1);
    await clock.advance(1_000);
    expect(told.outcome).toMatchObject({
      message: 'the storage is unavailable',
      cause: { name: 'TimeoutError', message: 'the storage did not send within 1000 ms' },
    });
    for (const [i, limit] of [250, 500, 1_000, 1_000].entries()) {
      // The pause before a probe.
      await clock.advance(250);
      const probe = create(i + 2);
      await clock.advance(1_000);
      expect(probe.after).toBe(limit);
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
      for (const reason of ['conflict', 'locked'] as const) {
        const reports: string[] = [];
        const onBatch = ({ end, isOpen }: { end: string; isOpen: boolean }) =>
          void reports.push(`${end} ${isOpen}`);
        const { clock, create, createMany, database } = open(
          { timeoutMs: 1_000, onBatch },
          rejects(reason, fault),
        );
        const creates = [1, 2, 2].map((id) => create(id));
        await clock.endTurn();
        const rejected = expect.objectContaining({ name: 'RolledBack', reason: 'rejected', cause: fault });
        expect(outcomesOf(creates)).toEqual([rejected, rejected, rejected]);
        expect(createMany).toHaveBeenCalledTimes(1);
        expect(reports).toEqual(['rejected false']);
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
      if (plants.some(({ id }) => id === 2n)) throw new RolledBack('rejected', fault);
      return created(plants);
    });
    const creates = [1, 2, 3].map((id) => create(id));
    await clock.endTurn();
    const rejected = expect.objectContaining({ name: 'RolledBack', cause: fault });
    expect(outcomesOf(creates)).toEqual(['created', rejected, 'created']);
  });

  it('is none if it is how fetch reports an outage: a TypeError with a cause', async () => {
    const outage = new TypeError('fetch failed', { cause: refused });
    const { clock, create, database } = open({ timeoutMs: 1_000 }, rejects('conflict', outage));
    const told = create(1);
    await clock.advance(100);
    expect(told.outcome).toBe('pending');
    database.current = answers;
    await clock.advance(500);
    expect(told.outcome).toBe('created');
  });
});
