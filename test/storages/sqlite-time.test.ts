// Another connection keeps its lock until a call times out, on a simulated clock.
import { join } from 'node:path';
import Database from 'libsql';
import type { SqliteStorage } from 'plant-store/sqlite';
import { expect, it } from 'vitest';
import { newFolder } from '../support/run-folder.js';
import { drivers } from '../support/sqlite.js';
import { SimulatedTimers } from '../support/timers.js';
import { context } from './context.js';

const timers = new SimulatedTimers();
timers.install();
const { sqliteStorage } = await import('plant-store/sqlite');

const calls: [string, string, (storage: SqliteStorage) => Promise<unknown>][] = [
  ['create', 'IMMEDIATE', ({ create }) => create({ id: 2n, name: 'Ilex' }, context)],
  ['find', 'EXCLUSIVE', ({ find }) => find(1n, context)],
  ['createTable', 'EXCLUSIVE', ({ createTable }) => createTable()],
];

it.each(drivers.flatMap(([name, driver]) => calls.map((call) => [...call, name, driver] as const)))(
  '%s waits for a lock (%s) until its timeout, and no longer: then nothing was stored',
  async (_name, mode, call, _driver, driver) => {
    const clock = timers.reset();
    const file = join(newFolder(), 'plants.db');
    const [database, other] = [new Database(file), new Database(file)] as const;
    await sqliteStorage(driver(database)).createTable();
    let isSettled = false;
    const storage = sqliteStorage(driver(database), { timeoutMs: 2_000 });
    other.exec(`BEGIN ${mode}`);
    const failed = call(storage)
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
  },
);
