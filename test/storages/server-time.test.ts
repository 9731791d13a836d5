// Connections and statements of a server that time out, on a simulated clock.
import type { MysqlConnection } from 'plant-store/mysql';
import { expect, it } from 'vitest';
import { deferred } from '../support/deferred.js';
import { SimulatedTimers } from '../support/timers.js';
import { context } from './context.js';
import { answering, inserted } from './mysql-connection.js';

const timers = new SimulatedTimers();
timers.install();
const { mysqlStorage } = await import('plant-store/mysql');

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The outcome of a create that has begun and times out. */
async function timeOut(getConnection: () => Promise<MysqlConnection>, timeoutMs = 1_000): Promise<unknown> {
  const { create } = mysqlStorage({ getConnection }, { timeoutMs });
  const outcome = create({ id: 1n, name: 'Rosa' }, context).catch((error: Error) => error);
  // The event loop has to end the turn of the create, and to look at the table.
  for (let i = 0; i < 10; i++) await turn();
  await timers.clock.advance(1_100);
  return outcome;
}

it('a server storage sends nothing on a connection that comes after the timeout, and releases it', async () => {
  const { connection, log } = answering();
  const late = deferred<MysqlConnection>();
  expect(await timeOut(() => late.promise)).toMatchObject({ name: 'StorageBusy' });
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
    const { log, pool } = answering(late.promise);
    expect(await timeOut(pool.getConnection)).toMatchObject({
      message: 'the storage did not answer within 1000 ms',
    });
    expect(log).toEqual(['INSERT 1', 'destroy']);
    late.resolve(came);
    await turn();
    expect(log).toEqual(['INSERT 1', 'destroy']);
  },
);

it('a server storage also destroys a connection whose create timed out before its call is watched', async () => {
  const { log, pool } = answering(new Promise(() => {}));
  expect(await timeOut(pool.getConnection, 20)).toMatchObject({
    message: 'the storage did not answer within 20 ms',
  });
  expect(log).toEqual(['INSERT 1', 'destroy']);
});

it('a server storage destroys a connection that does not respond to find', async () => {
  const { log, pool } = answering(new Promise(() => {}));
  const finding = mysqlStorage(pool, { timeoutMs: 1_000 })
    .find(1n, context)
    .catch((error: Error) => error);
  for (let i = 0; i < 10; i++) await turn();
  await timers.clock.advance(1_000);
  expect(await finding).toMatchObject({ message: 'the database did not answer within 1000 ms' });
  expect(log).toEqual(['SELECT 1', 'destroy']);
});

it('a distant server gets creates again after an outage, though a login and a look at the table outlast the first probe', async () => {
  const { connection, pool } = answering();
  let isDown = false;
  const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const distant = {
    ...connection,
    async execute(...statement: Parameters<MysqlConnection['execute']>) {
      await (isDown ? new Promise<never>(() => {}) : after(90));
      return connection.execute(...statement);
    },
  };
  const getConnection = async () => {
    await after(200);
    await pool.getConnection();
    return distant;
  };
  const { create } = mysqlStorage({ getConnection }, { timeoutMs: 2_000 });
  /** Creates one after the other until one is stored, or so many have failed. */
  const untilCreated = async (from: bigint) => {
    for (let i = 0n; i < 8n; i++) {
      const told = create({ id: from + i, name: 'Rosa' }, context).catch(() => 'failed');
      for (let ms = 0; ms < 2_100; ms += 10) {
        await timers.clock.advance(10);
        await turn();
      }
      if ((await told) === 'created') return 'created';
    }
    return 'never';
  };
  expect(await untilCreated(1n)).toBe('created');
  isDown = true;
  expect(await untilCreated(100n)).toBe('never');
  isDown = false;
  expect(await untilCreated(200n)).toBe('created');
});
