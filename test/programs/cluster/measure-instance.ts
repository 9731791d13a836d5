import mysql from 'mysql2/promise';
import pg from 'pg';
import type { PlantStorage } from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import type { InstanceSettings, Measured } from './measure.js';

// One instance of an app, 64 creators of which create without a pause; run by measure.ts.

const { instance, seconds, url }: InstanceSettings = JSON.parse(process.argv[2]!);
const context = {
  caller: 'anyone',
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
};
const storage = open();
// Ids that come one after the other, as most do; each instance has its own range.
let id = BigInt(Date.now()) * 1_000_000n + BigInt(instance) * 10n ** 17n;

function open(): PlantStorage {
  if (url.startsWith('mysql:')) return mysqlStorage(mysql.createPool(url));
  return postgresStorage(new pg.Pool({ connectionString: url }));
}

/** What the creates took, in milliseconds, for so long. */
async function create(ms: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + ms;
  const creator = async () => {
    while (performance.now() < end) {
      const start = performance.now();
      const outcome = await storage.create({ id: id++, name: 'Rosa canina', tag: 'shrub' }, context);
      if (outcome !== 'created') throw new Error(outcome);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: 64 }, creator));
  return times;
}

await create(1_000);
process.send!('warm');
process.once('message', async () => {
  const { user, system } = process.cpuUsage();
  const times = await create(seconds * 1_000);
  const cpu = process.cpuUsage({ user, system });
  const measured: Measured = { times, cpu: (cpu.user + cpu.system) / 1e6 };
  process.send!(measured, () => process.exit());
});
