// What a group commit reports of its batches, and of itself, on a simulated clock.
import Database from 'libsql';
import { RolledBack, StorageBusy } from 'plant-store';
import { sqliteStorage } from 'plant-store/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../support/deferred.js';
import {
  answers,
  created,
  hangs,
  open,
  outcomesOf,
  refused,
  refuses,
  rejects,
} from './group-commit-queue.js';

const busy = { name: 'StorageBusy' };

const thrower = () => {
  throw new Error('broken');
};

describe('onBatch', () => {
  it('gets the plants, the duration, the end, the pending creates and the circuit of each batch', async () => {
    const onBatch = vi.fn();
    const { answersIn, clock, database, create } = open({ timeoutMs: 1_000, maxBatch: 2, onBatch });
    database.current = answersIn(5);
    for (const id of [1, 2, 3]) create(id);
    await clock.advance(20);
    database.current = () => Promise.reject(new Error('connection lost'));
    create(4);
    await clock.advance(20);
    database.current = hangs;
    create(5);
    create(5);
    await clock.advance(1_000);
    expect(onBatch.mock.calls).toEqual([
      [{ plants: 2, failed: 0, ms: 5, end: 'settled', queued: 1, isOpen: false }],
      [{ plants: 1, failed: 0, ms: 5, end: 'settled', queued: 0, isOpen: false }],
      [{ plants: 1, failed: 1, ms: 0, end: 'unknown', queued: 0, isOpen: false }],
      [{ plants: 1, failed: 1, ms: 1_000, end: 'unknown', queued: 0, isOpen: true }],
    ]);
  });

  const broken = new Error('broken');
  it.each<[string, () => Promise<(Error | 'created')[]>, end: string, failed: number]>([
    ['stores one of two', async () => ['created', broken], 'settled', 1],
    ['has an error for each', async () => [broken, broken], 'rejected', 2],
    ['has stored nothing', () => Promise.reject(new StorageBusy('closed')), 'unavailable', 2],
    ['can store no plant', rejects('unusable', broken), 'unusable', 2],
    ['has rolled back both, which are sent again', refuses, 'conflict', 0],
    ['loses its connection', () => Promise.reject(broken), 'unknown', 2],
  ])(
    'says of a call that %s how it ended, and how many plants it has failed',
    async (_, behaviour, end, failed) => {
      const onBatch = vi.fn();
      const { clock, create } = open({ timeoutMs: 1_000, onBatch }, behaviour as typeof answers);
      create(1);
      create(2);
      await clock.advance(5);
      expect(onBatch.mock.calls[0]).toMatchObject([{ plants: 2, end, failed }]);
    },
  );

  it('reports batches that are rolled back, and the probe that closes the circuit', async () => {
    const onBatch = vi.fn();
    const { clock, database, create } = open({ timeoutMs: 1_000, onBatch });
    const fault = new Error('value too long');
    database.current = async (plants) => {
      if (plants.length > 1) throw new RolledBack('rejected', fault);
      return ['created'];
    };
    create(1);
    create(2);
    await clock.advance(1_000);
    database.current = refuses;
    create(3);
    await clock.advance(1_000);
    database.current = answers;
    create(4);
    await clock.advance(10);
    const ends = onBatch.mock.calls.map(([{ end, isOpen }]) => `${end}${isOpen ? ', open' : ''}`);
    expect(ends.slice(0, 4)).toEqual(['rejected', 'settled', 'settled', 'conflict']);
    expect(ends.at(-1)).toBe('settled');
  });

  it.each<[string, () => unknown]>([
    ['returns outcomes', () => ['created']],
    ['loses its connection', () => Promise.reject(new Error('connection lost'))],
    ['is rolled back', refuses],
  ])(
    'reports a call that timed out once, and the next one is in flight, although it %s later',
    async (_, end) => {
      const onBatch = vi.fn();
      const first = deferred<never>();
      const { clock, create, database, queue } = open({ timeoutMs: 1_000, onBatch }, () => first.promise);
      create(1);
      await clock.advance(1_000);
      database.current = hangs;
      const probe = create(2);
      await clock.advance(100);
      first.resolve(end() as never);
      await clock.advance(100);
      expect(queue.state()).toMatchObject({ queued: 1, inFlightMs: 200, isOpen: true });
      await clock.advance(50);
      expect(probe.outcome).toMatchObject({ name: 'TimeoutError' });
      expect(onBatch.mock.calls.map(([report]) => report.end)).toEqual(['unknown', 'unknown']);
    },
  );

  it.each([
    ['throws', thrower],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('that %s changes no outcome', async (_, onBatch) => {
    const { clock, create } = open({ timeoutMs: 1_000, onBatch });
    const told = [create(1), create(2)];
    await clock.advance(10);
    expect(outcomesOf(told)).toEqual(['created', 'created']);
  });

  it('may create a plant itself', async () => {
    const created: ReturnType<typeof create>[] = [];
    const onBatch = () => void (created.length < 2 && created.push(create(9 + created.length)));
    const { clock, create } = open({ timeoutMs: 1_000, onBatch });
    create(1);
    await clock.advance(10);
    expect(outcomesOf(created)).toEqual(['created', 'created']);
  });
});

describe('the state', () => {
  const idle = {
    queued: 0,
    queuedText: 0,
    inFlightMs: null,
    isOpen: false,
    failedInRow: 0,
    failingMs: null,
    rejectedInRow: 0,
    rejectingMs: null,
  };

  it('shows what is pending, how long the call in flight takes, and the circuit, at any time', async () => {
    const { answersIn, clock, create, database, queue } = open({ timeoutMs: 1_000 });
    expect(queue.state()).toEqual(idle);
    database.current = answersIn(10);
    create(1, 'Rosa');
    await clock.advance(4);
    create(2, 'Ilex aquifolium');
    expect(queue.state()).toEqual({ ...idle, queued: 2, queuedText: 19, inFlightMs: 4 });
    await clock.advance(7);
    expect(queue.state()).toEqual({ ...idle, queued: 1, queuedText: 15, inFlightMs: 1 });
    await clock.advance(10);
    expect(queue.state()).toEqual(idle);
  });

  it('shows a call that hangs before it is reported, and the circuit that it opens', async () => {
    const onBatch = vi.fn();
    const { clock, create, queue } = open({ timeoutMs: 1_000, onBatch }, hangs);
    for (const id of [1, 2, 3]) create(id);
    await clock.advance(900);
    create(4);
    expect(onBatch).not.toHaveBeenCalled();
    expect(queue.state()).toMatchObject({ queued: 4, inFlightMs: 900, isOpen: false });
    await clock.advance(100);
    expect(queue.state()).toEqual({ ...idle, isOpen: true, failedInRow: 4, failingMs: 0 });
  });

  it('fails creates with what has opened the circuit, although a probe has timed out since', async () => {
    const { clock, create, database, queue } = open({ timeoutMs: 1_000 }, refuses);
    create(1);
    await clock.advance(1_000);
    database.current = hangs;
    for (const probe of [2, 4]) {
      create(probe);
      const other = create(probe + 1);
      await clock.advance(0);
      expect(other.outcome).toMatchObject({ ...busy, cause: refused });
      await clock.advance(1_000);
      expect(queue.state()).toMatchObject({ queued: 0, isOpen: true });
    }
  });

  it('forgets a create that was not sent because its timeout had expired, although others of its batch are in flight', async () => {
    const { clock, create, database, queue } = open({ timeoutMs: 1_000 });
    database.current = async (plants) => {
      await clock.sleep(700);
      // Work that blocks the event loop: no timer can fire.
      clock.jump(400);
      database.current = hangs;
      return created(plants);
    };
    create(1);
    await clock.advance(1);
    const expired = create(2);
    await clock.advance(650);
    create(3);
    await clock.advance(50);
    expect(expired.outcome).toMatchObject(busy);
    expect(queue.state()).toMatchObject({ queued: 1, queuedText: 'plant 3'.length });
  });

  it('is that of a built-in storage, too', () => {
    expect(sqliteStorage(new Database(':memory:')).state()).toEqual(idle);
  });
});
