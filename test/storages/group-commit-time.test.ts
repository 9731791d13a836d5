// When creates settle, and how, on a simulated clock.
import { type CreateMany, groupCommit, RolledBack } from 'plant-store';
import { describe, expect, it, vi } from 'vitest';
import { useClock } from '../support/use-clock.js';
import {
  answers,
  context,
  created,
  hangs,
  idsOf,
  open,
  outcomesOf,
  plant,
  refused,
  refuses,
  type Told,
} from './group-commit-queue.js';

const busy = { name: 'StorageBusy' };
const unavailable = { ...busy, message: 'the storage is unavailable' };
const circuitOpen = { ...busy, message: 'the circuit is open' };
const unanswered = { name: 'TimeoutError', message: expect.stringMatching(/did not answer within/) };

const unsent: CreateMany<unknown> = (_plants, _contexts, call) => {
  call.sent = false;
  return hangs();
};

const microtasks = () => new Promise((resolve) => process.nextTick(resolve));

/** A queue whose circuit is open: a batch has timed out. */
async function openCircuit(behaviour: CreateMany<unknown> = refuses) {
  const opened = open(undefined, behaviour);
  opened.create(-1);
  await opened.clock.advance(1_000);
  opened.createMany.mockClear();
  return opened;
}

describe('the timeout of a create', () => {
  it('starts at its call, and ends in StorageBusy with the cause if the database definitely stored nothing', async () => {
    const { clock, database, create, createMany } = open();
    database.current = refuses;
    const first = create(1);
    await clock.advance(400);
    const waiting = create(2);
    await clock.advance(600);
    expect(first).toMatchObject({ outcome: { ...unavailable, cause: refused }, after: 1_000 });
    expect(waiting).toMatchObject({ outcome: { ...circuitOpen, cause: refused }, after: 600 });
    const attempts = createMany.mock.calls.length;
    expect(attempts).toBeGreaterThan(3);
    await clock.advance(60_000);
    expect(createMany.mock.calls.length).toBe(attempts);
    expect(clock.timerCount).toBe(0);
  });

  it('ends in an unknown outcome if the plant was sent and the call is pending; its later outcome changes nothing', async () => {
    const { clock, database, create } = open();
    let answer: () => void = () => {};
    database.current = () => new Promise((resolve) => (answer = () => resolve(['created'])));
    const told = create(1);
    const duplicate = create(1);
    await clock.advance(999);
    expect(told.outcome).toBe('pending');
    await clock.advance(1);
    expect(told).toMatchObject({ outcome: unanswered, after: 1_000 });
    expect(duplicate.outcome).toMatchObject(unanswered);
    answer();
    await clock.endTurn();
    expect(told.outcome).toMatchObject(unanswered);
  });

  it('is not over when a timer fires half a millisecond early, as those of Node may', async () => {
    const { clock, create } = open(undefined, hangs);
    const setTimer = (task: () => void, ms: number) => clock.setTimer(task, ms > 1 ? ms - 0.5 : ms);
    useClock({ ...clock, setTimer });
    const told = create(1);
    await clock.advance(2_000);
    expect(told).toMatchObject({ outcome: unanswered, after: 1_000 });
  });

  it('is its own: a create that expires in a long queue ends none that was called later', async () => {
    const { answersIn, clock, database, create } = open({ timeoutMs: 1_000, maxBatch: 1 });
    database.current = answersIn(90);
    const early = Array.from({ length: 15 }, (_, id) => create(id));
    await clock.advance(500);
    const late = [20, 21, 22].map((id) => create(id));
    await clock.advance(1_000);
    expect(early.at(-1)?.outcome).toMatchObject(busy);
    expect(outcomesOf(late)).toEqual(['created', 'created', 'created']);
  });

  it('ends in an unknown outcome with the last error of the database', async () => {
    const { clock, database, create } = open();
    database.current = refuses;
    const told = create(1);
    await clock.endTurn();
    database.current = hangs;
    await clock.advance(1_000);
    expect(told.outcome).toMatchObject({ ...unanswered, cause: refused });
  });

  it('that expires in the queue is StorageBusy, and the create is not sent', async () => {
    const { clock, database, create, sentIds } = open({ timeoutMs: 1_000, maxBatch: 1 });
    // As a driver that blocks the event loop: no timer can fire while it works.
    database.current = (plants) => {
      clock.jump(300);
      return created(plants);
    };
    const told = [1, 2, 3].map((id) => create(id));
    await clock.advance(0);
    const sent = sentIds().flat();
    expect(sent).toHaveLength(2);
    const outcomes = [1, 2, 3].map((id) => (sent.includes(id) ? 'created' : expect.objectContaining(busy)));
    expect(outcomesOf(told)).toEqual(outcomes);
  });
});

describe('a batch that was rolled back', () => {
  it.each([
    ['least', 0, [2.5, 5, 10, 20, 40, 80, 160, 250, 250]],
    ['most', 1, [5, 10, 20, 40, 80, 160, 320, 500, 500]],
  ])('is retried after 5 ms, doubling to 500 ms, or up to half as long, at %s', async (_, random, waits) => {
    const { clock, database, create } = open({ timeoutMs: 10_000 });
    const sentAt: number[] = [];
    database.current = () => {
      sentAt.push(clock.now());
      return refuses();
    };
    const dice = vi.spyOn(Math, 'random').mockReturnValue(random);
    create(1);
    await clock.advance(2_000);
    dice.mockRestore();
    const gaps = sentAt.slice(1).map((at, i) => at - sentAt[i]!);
    expect(gaps.slice(0, waits.length)).toEqual(waits);
  });
});

describe('a driver', () => {
  it.each<[string, CreateMany<unknown>]>([
    ['returns outcomes', created],
    ['returns a promise of outcomes', answers],
  ])(
    'that blocks the event loop gets all creates of each turn of it together, if it %s',
    async (_, blocks) => {
      const { clock, create, sentIds } = open({ timeoutMs: 1_000, blocksEventLoop: true }, blocks);
      for (let id = 0; id < 20; id += 2) {
        create(id);
        await microtasks();
        create(id + 1);
        await clock.endTurn();
      }
      expect(sentIds()).toEqual(Array.from({ length: 10 }, (_turn, i) => [2 * i, 2 * i + 1]));
    },
  );

  it('that does not block it gets the first creates at once, and then all that are called until it settles', async () => {
    const { answersIn, clock, create, database, sentIds } = open();
    database.current = answersIn(1);
    create(10);
    await microtasks();
    expect(sentIds()).toEqual([[10]]);
    for (const id of [13, 12, 11]) create(id);
    await clock.advance(1);
    expect(sentIds().at(-1)).toEqual([11, 12, 13]);
    await clock.advance(1);
    expect(clock.timerCount).toBe(0);
  });
});

describe('a call that waits for a connection', () => {
  it('rejects with StorageBusy and aborts its signal if it times out before it has sent', async () => {
    const { clock, database, create, createMany } = open();
    const onAbort = vi.fn();
    database.current = (_plants, _contexts, call) => {
      call.sent = false;
      call.signal.addEventListener('abort', onAbort);
      return hangs();
    };
    const told = create(1);
    await clock.advance(5);
    const alsoTold = create(2);
    await clock.advance(1_000);
    expect(told.outcome).toMatchObject(unavailable);
    expect(alsoTold.outcome).toMatchObject(circuitOpen);
    expect(onAbort).toHaveBeenCalledTimes(1);
    expect(createMany.mock.calls[0]?.[2].signal.aborted).toBe(true);
  });

  it('cannot say any more that it sends when it has timed out, because its creates have been rejected as not sent', async () => {
    const { clock, create, createMany, database } = open();
    database.current = (_plants, _contexts, call) => {
      call.sent = false;
      return hangs();
    };
    create(1);
    await clock.advance(1_000);
    const call = createMany.mock.calls[0]![2];
    expect(() => {
      call.sent = true;
    }).toThrow(
      expect.objectContaining({ name: 'AbortError', message: 'the call was aborted before it was sent' }),
    );
    expect(call.sent).toBe(false);
    // Although the signal is first read now.
    expect(call.signal.aborted).toBe(true);
    expect(call.signal).toBe(call.signal);
  });

  it('is aborted with the first of its creates that times out: none of them is stored', async () => {
    const { answersIn, clock, database, create, createMany } = open({ timeoutMs: 10_000 });
    database.current = answersIn(500);
    create(0);
    await clock.advance(1);
    const old = create(1);
    await clock.advance(400);
    const young = create(2);
    database.current = (_plants, _contexts, call) => {
      call.sent = false;
      return hangs();
    };
    await clock.advance(15_000);
    expect(createMany).toHaveBeenCalledTimes(2);
    expect(outcomesOf([old, young])).toEqual([expect.objectContaining(busy), expect.objectContaining(busy)]);
    expect(old.after).toBe(10_000);
  });
});

describe('a queue whose circuit is open', () => {
  it('fails creates fast, with the cause, while one probe is in flight', async () => {
    const { clock, create, sentIds } = await openCircuit();
    const probe = create(1);
    const others = [2, 3, 4].map((id) => create(id));
    await clock.advance(0);
    expect(probe.outcome).toBe('pending');
    for (const { outcome, after } of others) {
      expect([outcome, after]).toEqual([expect.objectContaining({ ...circuitOpen, cause: refused }), 0]);
    }
    await clock.advance(250);
    expect(probe.outcome).toMatchObject(unavailable);
    expect(probe.after).toBe(250);
    expect(new Set(sentIds().map(String))).toEqual(new Set(['1']));
  });

  it('closes it when a probe settles, which the first create after the return is', async () => {
    const { clock, database, create, sentIds } = await openCircuit();
    await clock.advance(60_000);
    database.current = answers;
    const first = create(1);
    await clock.endTurn();
    expect(first).toEqual({ outcome: 'created', after: 0 });
    const next = [2, 3].map((id) => create(id));
    await clock.endTurn();
    expect(outcomesOf(next)).toEqual(['created', 'created']);
    expect(sentIds()).toEqual([[1], [2, 3]]);
  });

  it.each<[string, string, CreateMany<unknown>, number, readonly number[], unknown]>([
    [
      'the same',
      'each call was rolled back',
      refuses,
      0,
      [250, 250, 250, 250],
      expect.objectContaining(unavailable),
    ],
    ['twice the', 'a batch hung', hangs, 0, [250, 500, 1_000, 1_000], expect.objectContaining(unanswered)],
    ['twice the, until it settles,', 'a batch took 900 ms', refuses, 900, [250, 500, 900], 'created'],
  ])(
    'gives the first probe 250 ms, and each next one %s timeout, if %s',
    async (_how, _why, behaviour, settlesAfter, waits, last) => {
      const { answersIn, clock, create, database } = await openCircuit(behaviour);
      if (settlesAfter) database.current = answersIn(settlesAfter);
      const probes: Told[] = [];
      for (const id of waits.keys()) {
        probes.push(create(id));
        await clock.advance(1_000);
      }
      expect(probes.map(({ after }) => after)).toEqual(waits);
      expect(probes.at(-1)?.outcome).toEqual(last);
    },
  );

  it.each<[string, CreateMany<unknown>, boolean]>([
    ['hangs when they are sent', hangs, true],
    ['hangs before they are sent', unsent, false],
    ['rolls them back', refuses, false],
  ])('makes no outcome unknown but those of probes, if the storage %s', async (_, behaviour, isSent) => {
    const { clock, create, createMany } = await openCircuit(behaviour);
    const creates: Told[] = [];
    for (let id = 0; id < 400; id++) {
      creates.push(create(id));
      await clock.advance(50);
    }
    await clock.advance(1_000);
    const sent = new Set(createMany.mock.calls.flatMap(([plants]) => idsOf(plants)));
    const unknown = creates.flatMap(({ outcome }, id) =>
      (outcome as Error).name === 'StorageBusy' ? [] : [id],
    );
    expect(unknown).toEqual(isSent ? [...sent] : []);
    expect(sent.size).toBeGreaterThan(10);
  });

  it('stays open after a dropped connection, and closes after a rejected plant', async () => {
    const { clock, database, create } = await openCircuit();
    const lost = new Error('connection lost');
    database.current = () => Promise.reject(lost);
    const probe = create(1);
    await clock.endTurn();
    expect(probe.outcome).toBe(lost);
    database.current = hangs;
    create(2);
    const refusedAtOnce = create(3);
    await clock.endTurn();
    expect(refusedAtOnce.outcome).toMatchObject(circuitOpen);
    await clock.advance(250);
    const fault = new Error('value too long');
    database.current = () => Promise.reject(new RolledBack('rejected', fault));
    const faulty = create(4);
    await clock.endTurn();
    expect(faulty.outcome).toMatchObject({ name: 'RolledBack', cause: fault });
    database.current = answers;
    const both = [create(5), create(6)];
    await clock.endTurn();
    expect(outcomesOf(both)).toEqual(['created', 'created']);
  });
});

describe('the bound', () => {
  it.each([
    ['number', { maxQueued: 2 }],
    ['text', { maxQueuedText: 2 * plant(1).name.length }],
  ])('includes the %s of an aborted call until it settles, at most for another timeout', async (_, bound) => {
    let settle: () => void = () => {};
    const behaviour: CreateMany<unknown> = () =>
      new Promise((resolve) => (settle = () => resolve(['created', 'created'])));
    for (const settlesAfter of [100, Number.POSITIVE_INFINITY]) {
      const { clock, create, database } = open({ timeoutMs: 1_000, ...bound }, behaviour);
      create(1);
      create(2);
      await clock.advance(1_000);
      database.current = answers;
      const refused = create(3);
      await clock.endTurn();
      expect(refused.outcome).toMatchObject({ message: 'the storage queue is full' });
      if (settlesAfter < 1_000) settle();
      await clock.advance(Math.min(settlesAfter, 1_000));
      const probe = create(4);
      await clock.endTurn();
      const free = [create(5), create(6)];
      await clock.endTurn();
      expect(outcomesOf([probe, ...free])).toEqual(['created', 'created', 'created']);
    }
  });

  it('is an amount of text, that of names and tags; a plant that is larger by itself is taken alone', async () => {
    const { answersIn, clock, create, createPlant, database } = open({ maxQueuedText: 1_000 });
    database.current = answersIn(10);
    const text = (length: number) => 'x'.repeat(length);
    const creates = [createPlant({ id: 1n, name: text(400), tag: text(400) }, context), create(2, text(400))];
    creates.push(create(3, text(200)));
    await clock.advance(100);
    expect(outcomesOf(creates)).toEqual(['created', expect.objectContaining(busy), 'created']);
    const large = [create(4, text(5_000)), create(5, '')];
    await clock.advance(100);
    expect(outcomesOf(large)).toEqual(['created', expect.objectContaining(busy)]);
  });
});

it("groupCommit runs on the platform's own timers, even if they are replaced meanwhile", async () => {
  vi.useFakeTimers();
  try {
    let attempts = 0;
    const { create } = groupCommit(async (plants) => {
      if (++attempts < 3) throw new RolledBack('conflict', refused);
      return created(plants);
    });
    expect(await create(plant(1), context)).toBe('created');
  } finally {
    vi.useRealTimers();
  }
});
