// What times out on a real PostgreSQL, on a simulated clock: it stands still while the server works, however slow that is.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Doorway } from '../support/doorway.js';
import { SimulatedTimers } from '../support/timers.js';
import { waitFor } from '../support/wait-for.js';
import { context } from './context.js';
import { messageOf, ownServer } from './postgres-server.js';

const timers = new SimulatedTimers();
timers.install();
const { clock } = timers;
const { postgresStorage } = await import('plant-store/postgres');

const own = ownServer();
beforeAll(() => postgresStorage(own.pool).createTable());

let ids = 0n;
const plant = () => ({ id: ids++, name: 'Rosa' });

/** Lets time pass, in steps of so many milliseconds between which the server has some real time to answer, until `isOver`. */
async function passUntil(isOver: () => boolean | Promise<boolean>, step = 1): Promise<void> {
  while (!(await isOver())) {
    await clock.advance(step);
    await sleep(5);
  }
}

/** Lets time pass until a promise settles. */
async function settled<T>(promise: Promise<T>, step?: number): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  await passUntil(() => isSettled, step);
  return promise;
}

it('a connection that hangs is discarded when its create times out, so that the pool has room for another', async () => {
  const narrow = own.poolOf({ max: 1 });
  const { create } = postgresStorage(narrow);
  expect(await create(plant(), context)).toBe('created');
  const { rows: processes } = await narrow.query('SELECT pg_backend_pid() AS pid');
  process.kill(processes[0].pid, 'SIGSTOP');
  const hung = create(plant(), context).catch((error) => error);
  await waitFor(() => expect(narrow.idleCount).toBe(0));
  await clock.advance(10_100);
  expect(await hung).toMatchObject({ message: expect.stringContaining('did not answer within 10000 ms') });
  expect(await settled(create(plant(), context))).toBe('created');
  process.kill(processes[0].pid, 'SIGCONT');
});

let hole: Doorway;
beforeEach(async () => {
  hole = await Doorway.before({ path: own.server.socket });
});
afterEach(() => hole.close());

function poolBehindHole(options: pg.PoolConfig = {}): pg.Pool {
  const connectionString = `postgres://postgres@127.0.0.1:${hole.port}/postgres`;
  const pool = new pg.Pool({ connectionString, ...options });
  pool.on('error', () => {});
  return pool;
}

it('postgresStorage connects again until the create times out if the server is starting up; then nothing was stored', async () => {
  const text = 'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0';
  let connections = 0;
  hole.onAnswer = (_answer, client) => {
    connections++;
    client.end(messageOf('E', text));
  };
  const pool = poolBehindHole();
  const creating = postgresStorage(pool)
    .create(plant(), context)
    .catch((error) => error);
  await passUntil(() => connections > 2);
  await clock.advance(10_100);
  expect(await creating).toMatchObject({ name: 'StorageBusy', cause: { code: '57P03' } });
  await pool.end();
});

// Connections are accepted, and their logins never end.
it('a network that vanishes without a RST fills no pool that has a connectionTimeoutMillis, and plants are created after it', async () => {
  const pool = poolBehindHole({ max: 2, connectionTimeoutMillis: 5_000 });
  const { create } = postgresStorage(pool, { timeoutMs: 1_000 });
  let created = 0;
  let isStopped = false;
  const clients = Array.from({ length: 4 }, async () => {
    while (!isStopped) {
      const outcome = await create(plant(), context).catch(() => 'failed');
      if (outcome === 'created') created++;
      else await clock.sleep(10);
    }
  });
  await waitFor(() => expect(created).toBeGreaterThan(0));
  hole.vanish();
  const vanishedAt = clock.now();
  const passed = (ms: number) => passUntil(() => clock.now() >= vanishedAt + ms, 50);
  await passed(1_100);
  const before = created;
  await passed(4_000);
  expect(created).toBe(before);
  hole.heal();
  // In small steps: a login of a busy machine must fit into the 250 ms of a probe.
  await passUntil(() => created > before, 5);
  isStopped = true;
  await settled(Promise.all(clients), 50);
  hole.close();
  await pool.end();
});
