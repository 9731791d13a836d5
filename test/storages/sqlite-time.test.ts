// Another connection keeps its lock until a call times out, on a simulated clock.
import { join } from 'node:path';
import Database from 'libsql';
import { expect, it } from 'vitest';
import { newFolder } from '../support/run-folder.js';
import { minimal } from '../support/sqlite.js';
import { SimulatedTimers } from '../support/timers.js';
import { context } from './context.js';

const timers = new SimulatedTimers();
timers.install();
const { sqliteStorage } = await import('plant-store/sqlite');

it('create waits for a lock until its timeout, and no longer: then nothing was stored', async () => {
  const clock = timers.reset();
  const file = join(newFolder(), 'plants.db');
  const [database, other] = [new Database(file), new Database(file)] as const;
  await sqliteStorage(minimal(database)).createTable();
  let isSettled = false;
  const { create } = sqliteStorage(minimal(database), { timeoutMs: 2_000 });
  other.exec('BEGIN IMMEDIATE');
  const failed = create({ id: 2n, name: 'Ilex' }, context)
    .catch((error) => error)
    .finally(() => {
      isSettled = true;
    });
  // The message at the end of the create's turn, and those that follow.
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(1_900);
  expect(isSettled).toBe(false);
  await clock.advance(200);
  expect(await failed).toMatchObject({ name: 'StorageBusy', cause: { code: 'SQLITE_BUSY' } });
  other.close();
  database.close();
});
