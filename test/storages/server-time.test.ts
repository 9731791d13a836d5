// Connections and statements of a server that time out, on a simulated clock.
import type { MysqlConnection, MysqlOptions } from 'plant-store/mysql';
import { expect, it, vi } from 'vitest';
import { deferred } from '../support/deferred.js';
import { SimulatedTimers } from '../support/timers.js';
import { context } from './context.js';

const timers = new SimulatedTimers();
timers.install();
const { mysqlStorage } = await import('plant-store/mysql');

const turn = () => new Promise((resolve) => setImmediate(resolve));
const busy = { name: 'StorageBusy' };
const inserted = { serverStatus: 2 };

/** A connection, and what was done with it; its INSERTs have this result. */
function connectionOf(result: unknown = inserted) {
  const log: string[] = [];
  const connection: MysqlConnection = {
    async execute(statement) {
      if (typeof statement !== 'string') return [[], undefined];
      log.push('INSERT');
      return [await result, undefined];
    },
    unprepare() {},
    release: () => log.push('release'),
    destroy: () => log.push('destroy'),
  };
  return { connection, log };
}

/** A storage with this pool, and its steps. */
function open(getConnection: () => Promise<MysqlConnection>, options: MysqlOptions = {}) {
  const storage = mysqlStorage({ getConnection }, { timeoutMs: 1_000, ...options });
  const creating = async () => {
    const outcome = storage.create({ id: 1n, name: 'Rosa' }, context).catch((error: Error) => error);
    // The event loop has to end the turn of the create, and to look at the table.
    for (let i = 0; i < 10; i++) await turn();
    return { outcome };
  };
  return { creating, find: (id: number) => storage.find(BigInt(id), context).catch((error: Error) => error) };
}

it('a server storage sends nothing on a connection that comes after the timeout, and releases it', async () => {
  const { connection, log } = connectionOf();
  const late = deferred<MysqlConnection>();
  const { outcome } = await open(() => late.promise).creating();
  await timers.clock.advance(1_100);
  expect(await outcome).toMatchObject(busy);
  late.resolve(connection);
  await turn();
  expect(log).toEqual(['release']);
});

it.each([
  ['a result', inserted],
  ['an error', Object.assign(new Error('rolled back'), { errno: 1213, sqlState: '40001' })],
])(
  'a server storage destroys a connection that does not respond, and only once, even if %s comes after the timeout',
  async (_, came) => {
    const late = deferred<unknown>();
    const { connection, log } = connectionOf(late.promise);
    const { outcome } = await open(async () => connection).creating();
    await timers.clock.advance(1_100);
    expect(await outcome).toMatchObject({ message: 'the storage did not answer within 1000 ms' });
    expect(log).toEqual(['INSERT', 'destroy']);
    if (came instanceof Error) late.reject(came);
    else late.resolve(came);
    await turn();
    expect(log).toEqual(['INSERT', 'destroy']);
  },
);

it('a server storage has at most 4 connects that never settle, by creates and by finds', async () => {
  const getConnection = vi.fn(() => new Promise<MysqlConnection>(() => {}));
  const { creating, find } = open(getConnection);
  for (let round = 0; round < 8; round++) {
    const { outcome } = await creating();
    const found = Promise.all(Array.from({ length: 20 }, (_, id) => find(id)));
    await timers.clock.advance(1_100);
    expect([await outcome, ...(await found)]).toEqual(Array(21).fill(expect.any(Error)));
  }
  expect(getConnection).toHaveBeenCalledTimes(4);
});

it('a server storage serves each of 20 calls, with at most 4 connects at a time', async () => {
  const pending = { now: 0, most: 0 };
  const { find } = open(async () => {
    pending.most = Math.max(pending.most, ++pending.now);
    await turn();
    pending.now--;
    return connectionOf().connection;
  });
  const found = Promise.all(Array.from({ length: 20 }, (_, id) => find(id)));
  for (let i = 0; i < 50; i++) await turn();
  await timers.clock.advance(1_100);
  expect(await found).toEqual(Array(20).fill(undefined));
  expect(pending.most).toBe(4);
});

it('a server storage serves the next call with a connect that outlasts its own, because a login may be slow', async () => {
  const late = deferred<MysqlConnection>();
  const { creating } = open(() => late.promise);
  const first = await creating();
  await timers.clock.advance(1_100);
  expect(await first.outcome).toMatchObject(busy);
  const second = await creating();
  late.resolve(connectionOf().connection);
  expect(await second.outcome).toBe('created');
});

it('a server storage connects again after more failed connects than it keeps pending', async () => {
  const { connection } = connectionOf();
  let failed = 0;
  const connect = async () => {
    if (failed++ < 6) throw new Error('connect ECONNREFUSED');
    return connection;
  };
  const { outcome } = await open(connect, { timeoutMs: 60_000 }).creating();
  for (let i = 0; i < 20; i++) {
    await timers.clock.advance(1_000);
    await turn();
  }
  expect(await outcome).toBe('created');
});
