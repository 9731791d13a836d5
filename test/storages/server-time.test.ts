// Connections and statements of a server that time out, on a simulated clock.
import type { MysqlConnection, MysqlOptions } from 'plant-store/mysql';
import { expect, it } from 'vitest';
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
  return { creating };
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
