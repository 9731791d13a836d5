// Nobody waits for a stranger's rejected or locked plants: on a simulated clock, a statement takes 2 ms.
import {
  type CreateMany,
  type CreateOutcome,
  type NewPlant,
  PlantRefused,
  RolledBack,
  type StorageContext,
} from 'plant-store';
import { describe, expect, it } from 'vitest';
import type { GroupCommitOptions } from '../../src/group-commit/options.js';
import { Queue } from '../../src/group-commit/queue.js';
import { SimulatedClock } from '../support/clock.js';

const statementMs = 2;
const rejected = new Error('violates a CHECK');
const locked = new Error('lock timeout');

type Outcome = { outcome: unknown; after: number };

/** A queue whose database rejects plants that are called "bad", and waits 500 ms for those that are called "locked". */
function open(options: GroupCommitOptions = {}, more?: CreateMany<unknown>) {
  const clock = new SimulatedClock();
  const isLocked = { current: true };
  const statements: NewPlant[][] = [];
  const createMany: CreateMany<unknown> = async (plants, contexts, call) => {
    statements.push([...plants]);
    if (more) return more(plants, contexts, call);
    if (isLocked.current && plants.some(({ name }) => name === 'locked')) {
      await clock.sleep(500);
      throw new RolledBack(plants.length > 1 ? 'apart' : 'together', locked);
    }
    await clock.sleep(statementMs);
    if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('apart', rejected);
    return plants.map(() => 'created');
  };
  const queue = new Queue(createMany, { maxQueued: 100_000, ...options }, clock);
  let id = 0;
  const create = (client: string, name: string, withId: number = ++id): Outcome => {
    const result: Outcome = { outcome: 'pending', after: Number.NaN };
    const start = clock.now();
    const settle = (outcome: unknown) => Object.assign(result, { outcome, after: clock.now() - start });
    queue.create({ id: BigInt(withId), name }, contextOf(client)).then(settle, settle);
    return result;
  };
  const many = (count: number, client: string, name: string, withId?: number) =>
    Array.from({ length: count }, () => create(client, name, withId));
  return { clock, queue, create, many, statements, isLocked };
}

function contextOf(client: string): StorageContext<unknown> {
  const headers = { authorization: `Bearer ${client}` };
  const signal = new AbortController().signal;
  return { request: { method: 'POST', url: '/plants', headers }, caller: { client }, signal };
}

const isBusy = expect.objectContaining({ name: 'StorageBusy' });

interface Pending {
  readonly client: string;
  readonly firstId?: number;
  /** From one id to the next. */
  readonly step?: number;
  readonly count: number;
  readonly until: number;
  readonly name: () => string;
}

/** Keeps `count` creates of a client pending until `until`; returns how long each took. */
function keepPending(
  opened: ReturnType<typeof open>,
  { client, firstId = 1_000_000 * client.length, step = 1, count, until, name }: Pending,
): Outcome[] {
  const results: Outcome[] = [];
  const { clock, queue } = opened;
  let id = firstId;
  const next = () => {
    if (clock.now() >= until) return;
    const start = clock.now();
    const settle = (outcome: unknown) => {
      results.push({ outcome, after: clock.now() - start });
      // As over a network: the next create comes a moment later.
      clock.setTimer(next, 0.5);
    };
    id += step;
    queue.create({ id: BigInt(id), name: name() }, contextOf(client)).then(settle, settle);
  };
  for (let i = 0; i < count; i++) next();
  return results;
}

function percentile(results: readonly Outcome[], share: number): number {
  const sorted = results.map(({ after }) => after).sort((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))]!;
}

describe('a stranger', () => {
  /** How long a stranger waits whose create comes behind `count` creates of another client, `laterMs` later. */
  async function waitBehind(
    count: number,
    { name = 'good', id, laterMs = 0 }: { name?: string; id?: number; laterMs?: number },
  ) {
    const { clock, create, many } = open();
    many(count, 'another', name, id);
    await clock.advance(laterMs);
    const stranger = create('stranger', 'good', 1_000_000);
    for (let ms = 0; ms < 60_000 && stranger.outcome === 'pending'; ms += 10) await clock.advance(10);
    expect(stranger.outcome).toBe('created');
    return stranger.after;
  }

  it.each([2_000, 20_000])(
    'waits at most 5 statements longer behind %i rejected creates than behind valid ones',
    async (count) => {
      for (const laterMs of [0, 1, 3, 100, 1_001]) {
        const good = await waitBehind(count, { laterMs });
        expect(await waitBehind(count, { name: 'bad', laterMs })).toBeLessThanOrEqual(good + 5 * statementMs);
      }
    },
  );

  it('waits at most 5 statements longer behind 8 000 creates of one rejected id', async () => {
    for (const laterMs of [0, 3, 100]) {
      const good = await waitBehind(8_000, { id: 7, laterMs });
      expect(await waitBehind(8_000, { name: 'bad', id: 7, laterMs })).toBeLessThanOrEqual(
        good + 5 * statementMs,
      );
    }
  });

  it('waits at most 5 statements longer if the storage rejects one id 8 000 times with an outcome of its own', async () => {
    const refused = new PlantRefused('no');
    const clock = new SimulatedClock();
    const createMany = async (plants: readonly NewPlant[]): Promise<CreateOutcome[]> => {
      await clock.sleep(statementMs);
      return plants.map(({ name }) => (name === 'bad' ? refused : 'created'));
    };
    const queue = new Queue(createMany, {}, clock);
    for (let i = 0; i < 8_000; i++)
      queue.create({ id: 7n, name: 'bad' }, contextOf('another')).catch(() => {});
    let after = Number.NaN;
    queue.create({ id: 8n, name: 'good' }, contextOf('stranger')).then(() => {
      after = clock.now();
    });
    await clock.advance(20_000);
    expect(after).toBeLessThanOrEqual(6 * statementMs);
  });

  it('waits at most 5 statements longer if the rejected creates are in its own batch, of any number of clients', async () => {
    for (const clients of [1, 2, 10, 85]) {
      const { clock, create } = open();
      const stranger = create('stranger', 'good');
      for (let i = 0; i < 255; i++) create(`another ${i % clients}`, 'bad');
      await clock.advance(6 * statementMs);
      expect(stranger.outcome).toBe('created');
    }
  });

  it('waits at most 5 statements longer if it creates an id that a rejected create has, too', async () => {
    const { clock, create, many } = open();
    many(100, 'another', 'bad', 7);
    many(100, 'another', 'bad');
    const stranger = create('stranger', 'good', 7);
    await clock.advance(6 * statementMs);
    expect(stranger.outcome).toBe('created');
  });

  it.each([
    ['200 rejected', 200, 1],
    ['2 000 rejected', 2_000, 1],
    ['2 000, of which one in a hundred is rejected,', 2_000, 100],
  ])(
    'sees a p99 of at most 10 ms while %s creates of one client are always pending',
    async (_, count, every) => {
      const opened = open();
      let creates = 0;
      const name = () => (++creates % every === 0 ? 'bad' : 'good');
      keepPending(opened, { client: 'another', count, until: 10_000, name });
      const strangers = keepPending(opened, {
        client: 'stranger',
        count: 1,
        until: 10_000,
        name: () => 'good',
      });
      await opened.clock.advance(10_500);
      expect(strangers.length).toBeGreaterThan(1_000);
      expect(strangers.every(({ outcome }) => outcome === 'created')).toBe(true);
      expect(percentile(strangers, 0.99)).toBeLessThanOrEqual(10);
    },
  );

  it('is served while two clients have rejected creates pending, and neither of them starves', async () => {
    const opened = open();
    const bad = ['one', 'other'].map((client) =>
      keepPending(opened, { client, count: 100, until: 10_000, name: () => 'bad' }),
    );
    const strangers = keepPending(opened, {
      client: 'stranger',
      count: 5,
      until: 10_000,
      name: () => 'good',
    });
    await opened.clock.advance(25_000);
    expect(percentile(strangers, 0.99)).toBeLessThanOrEqual(10);
    for (const results of bad) {
      expect(results.length).toBeGreaterThan(500);
      expect(results.every(({ outcome }) => (outcome as Error).cause === rejected)).toBe(true);
    }
  });

  it('shares no batch with a client that has rejected creates in the queue', async () => {
    const { clock, create, many, statements } = open();
    many(300, 'another', 'bad');
    await clock.advance(4 * statementMs);
    create('stranger', 'good');
    many(5, 'another', 'bad');
    await clock.advance(10_000);
    const shared = statements.slice(1).filter((plants) => new Set(plants.map(({ name }) => name)).size > 1);
    expect(shared).toEqual([]);
  });
});

describe('a rejected batch', () => {
  it('of as many clients as plants is bisected: one rejected plant among 256 costs 17 statements', async () => {
    const { clock, create, statements } = open();
    const creates = Array.from({ length: 256 }, (_, i) => create(`client ${i}`, i === 100 ? 'bad' : 'good'));
    await clock.advance(1_000);
    expect(statements).toHaveLength(17);
    expect(creates.filter(({ outcome }) => outcome === 'created')).toHaveLength(255);
    expect(creates[100]?.outcome).toMatchObject({ name: 'RolledBack', cause: rejected });
  });

  it('whose callers sent no Authorization is split by `caller`', async () => {
    const { clock, queue, statements } = open();
    const context = (caller: string) => ({
      request: { method: 'POST', url: '/plants', headers: {} },
      caller,
      signal: new AbortController().signal,
    });
    for (let id = 0n; id < 20n; id++) queue.create({ id, name: 'bad' }, context('another')).catch(() => {});
    queue.create({ id: 20n, name: 'good' }, context('stranger'));
    await clock.advance(1_000);
    expect(statements[1]?.map(({ id }) => id)).toEqual([20n]);
  });

  it('rejects each of 2 000 creates before its timeout, or fails it as busy unless it is in flight', async () => {
    const { clock, many, statements } = open({ timeoutMs: 2_000 });
    const creates = many(2_000, 'another', 'bad');
    await clock.advance(2_000);
    expect(creates.filter(({ outcome }) => outcome === 'pending')).toEqual([]);
    expect(creates.filter(({ after }) => after > 2_000)).toEqual([]);
    const inFlight = new Set(statements.at(-1)?.map(({ id }) => Number(id)));
    const outcomes = creates
      .filter((_, i) => !inFlight.has(i + 1))
      .map(({ outcome }) => (outcome as Error).name);
    expect(new Set(outcomes)).toEqual(new Set(['RolledBack', 'StorageBusy']));
    await clock.advance(60_000);
    expect(clock.timerCount).toBe(0);
  });

  it('leaves creates that settle at their own timeouts while another batch hangs', async () => {
    const hanging = { current: false };
    const clock = new SimulatedClock();
    const queue = new Queue<unknown>(
      async (plants) => {
        if (hanging.current) return new Promise<never>(() => {});
        await clock.sleep(statementMs);
        if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('apart', rejected);
        return plants.map(() => 'created' as const);
      },
      { timeoutMs: 1_000 },
      clock,
    );
    const results: Outcome[] = [];
    const create = (id: number, client: string, name: string) => {
      const start = clock.now();
      const settle = (outcome: unknown) => results.push({ outcome, after: clock.now() - start });
      queue.create({ id: BigInt(id), name }, contextOf(client)).then(settle, settle);
    };
    for (let id = 0; id < 100; id++) create(id, 'another', 'bad');
    await clock.advance(500);
    for (let id = 100; id < 150; id++) create(id, 'stranger', 'good');
    await clock.advance(1);
    hanging.current = true;
    await clock.advance(3_000);
    expect(results).toHaveLength(150);
    expect(results.filter(({ after }) => after > 1_000)).toEqual([]);
  });

  it('counts in the bounds until its creates are settled', async () => {
    const { clock, create, many } = open({ maxQueued: 20 });
    many(20, 'another', 'bad');
    await clock.advance(2 * statementMs);
    const more = create('stranger', 'good');
    await clock.advance(0);
    expect(more.outcome).toEqual(isBusy);
    await clock.advance(1_000);
    expect(many(20, 'stranger', 'good').length).toBe(20);
    await clock.advance(100);
    expect(create('stranger', 'good').outcome).toBe('pending');
  });

  it('fails fast with the remaining queue when the circuit opens', async () => {
    let isDown = false;
    const clock = new SimulatedClock();
    const down = new Error('connection refused');
    const queue = new Queue<unknown>(
      async (plants) => {
        await clock.sleep(statementMs);
        if (isDown) throw new RolledBack('together', down);
        if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('apart', rejected);
        return plants.map(() => 'created' as const);
      },
      { timeoutMs: 1_000 },
      clock,
    );
    const outcomes: unknown[] = [];
    const create = (id: number, client: string, name: string) =>
      queue
        .create({ id: BigInt(id), name }, contextOf(client))
        .catch((error) => error)
        .then((outcome) => outcomes.push(outcome));
    for (let id = 0; id < 200; id++) create(id, 'another', 'bad');
    await clock.advance(100);
    isDown = true;
    for (let id = 200; id < 300; id++) create(id, 'stranger', 'good');
    await clock.advance(2_500);
    expect(outcomes).toHaveLength(300);
    expect(outcomes.at(-1)).toEqual(isBusy);
    const probe = queue.create({ id: 1_000n, name: 'good' }, contextOf('stranger')).catch((error) => error);
    await clock.advance(0);
    await expect(queue.create({ id: 1_001n, name: 'good' }, contextOf('stranger'))).rejects.toMatchObject({
      name: 'StorageBusy',
      message: 'the storage is unavailable',
    });
    isDown = false;
    await clock.advance(300);
    expect(await probe).toBe('created');
  });
});

describe('a locked row', () => {
  const until = 30_000;

  it.each([
    ['of another client', 'locked', (i: number) => `stranger ${i}`],
    ['of a client with the same token', 'shared', () => 'shared'],
  ])(
    '%s costs 20 strangers at most a p99 of 1 s, and no refusal, for 30 s',
    async (_, lockedClient, clientOf) => {
      const opened = open();
      const waiting: Outcome[] = [];
      const ask = () => {
        waiting.push(opened.create(lockedClient, 'locked', 5));
        if (opened.clock.now() < 20_000) opened.clock.setTimer(ask, 10_050);
      };
      ask();
      const strangers = Array.from({ length: 20 }, (_stranger, i) =>
        keepPending(opened, {
          client: clientOf(i),
          firstId: 1_000_000 * (i + 1),
          count: 1,
          until,
          name: () => 'good',
        }),
      );
      await opened.clock.advance(until + 12_000);
      const results = strangers.flat();
      expect(results.filter(({ outcome }) => outcome !== 'created')).toEqual([]);
      expect(results.length).toBeGreaterThan(10_000);
      expect(percentile(results, 0.99)).toBeLessThanOrEqual(1_000);
      expect(Math.max(...results.map(({ after }) => after))).toBeLessThanOrEqual(3_000);
      expect(waiting.map(({ outcome }) => outcome)).toEqual([isBusy, isBusy, isBusy]);
      expect(waiting.filter(({ after }) => after < 8_900 || after > 10_000)).toEqual([]);
    },
  );

  it('costs strangers at most a p99 of 1 s if ten clients ask for its id again and again', async () => {
    const opened = open();
    const askers = Array.from({ length: 10 }, (_asker, i) =>
      keepPending(opened, {
        client: `asker ${i}`,
        firstId: 5,
        step: 0,
        count: 1,
        until,
        name: () => 'locked',
      }),
    );
    const strangers = keepPending(opened, { client: 'stranger', count: 20, until, name: () => 'good' });
    await opened.clock.advance(until + 12_000);
    expect(strangers.filter(({ outcome }) => outcome !== 'created')).toEqual([]);
    expect(percentile(strangers, 0.99)).toBeLessThanOrEqual(1_000);
    for (const { outcome } of askers.flat()) expect(outcome).toEqual(isBusy);
  });

  it('does not make batches smaller: those of this turn join those that waited', async () => {
    // The database does not wait for the lock, so that the locked create pauses nearly all the time.
    const opened = open({}, async (plants) => {
      if (plants.some(({ name }) => name === 'locked')) throw new RolledBack('together', locked);
      await opened.clock.sleep(statementMs);
      return plants.map(() => 'created');
    });
    const { clock, create, queue, statements } = opened;
    create('another', 'locked', 5);
    await clock.advance(1_000);
    for (let client = 0; client < 10; client++) {
      // Each sends its next create in the turn in which its last one settled.
      void (async () => {
        for (let i = 0; i < 50; i++) {
          const id = BigInt(1_000 * (client + 1) + i);
          await queue.create({ id, name: 'good' }, contextOf(`stranger ${client}`));
        }
      })();
    }
    // One more arrives in the middle of each statement.
    for (let i = 0; i < 50; i++) clock.setTimer(() => create('stranger', 'good', 100_000 + i), 1 + 2 * i);
    await clock.advance(3_000);
    const sizes = statements.map(({ length }) => length);
    expect(sizes.filter((size) => size === 11).length).toBeGreaterThan(40);
  });

  it('is stored soon after it is unlocked', async () => {
    const { clock, create, isLocked } = open();
    const asker = create('another', 'locked', 5);
    const strangers = [create('stranger', 'good'), create('stranger', 'good')];
    await clock.advance(3_000);
    expect([asker, ...strangers].map(({ outcome }) => outcome)).toEqual(['pending', 'created', 'created']);
    isLocked.current = false;
    await clock.advance(1_500);
    expect(asker.outcome).toBe('created');
  });

  it('does not delay a create that comes while its own pauses', async () => {
    const { clock, create, statements } = open();
    create('another', 'locked', 5);
    await clock.advance(502);
    expect(statements).toHaveLength(1);
    const stranger = create('stranger', 'good');
    await clock.advance(statementMs);
    expect(stranger).toEqual({ outcome: 'created', after: statementMs });
  });

  it('of an id that another namespace has, too, is that of its namespace alone', async () => {
    const { clock, queue } = open({
      namespace: ({ request }) => (request.headers as { authorization: string }).authorization,
    });
    const outcomes: [client: string, outcome: unknown][] = [];
    const create = (client: string, name: string) =>
      queue.create({ id: 5n, name }, contextOf(client)).then(
        (outcome) => outcomes.push([client, outcome]),
        ({ name: error }) => outcomes.push([client, error]),
      );
    create('one', 'locked');
    await clock.advance(502);
    create('other', 'locked');
    await clock.advance(1_100);
    create('third', 'good');
    await clock.advance(600);
    expect(outcomes).toEqual([['third', 'created']]);
    create('one', 'good');
    await clock.advance(12_000);
    expect(outcomes).toHaveLength(4);
    expect(outcomes.slice(1)).toEqual([
      ['one', 'StorageBusy'],
      ['other', 'StorageBusy'],
      ['one', 'created'],
    ]);
  });
});
