// Creates plants through a client of its own: `far-creators.mjs <kind> <url> <first id> <count>`. Prints what each was told.
import { sqliteStorage } from 'plant-store/sqlite';
import { context } from '../storages/context.js';
import type { Any } from '../support/installed.js';

// It runs in the folder that has the packages.
const load = (name: string): Promise<Any> => import(name);

const [, , kind, url, first, count] = process.argv;

const open: Record<string, () => Promise<never>> = {
  async '@libsql/client'() {
    const { createClient } = await load('@libsql/client');
    return createClient({ url, timeout: 1_000 }) as never;
  },
  async 'libsql/promise'() {
    const { default: Database } = await load('libsql/promise');
    return new Database(url!.replace('file:', '')) as never;
  },
};

const handle = await open[kind!]!();
const storage = sqliteStorage(handle);
// The other process may do the same.
if ('exec' in (handle as object)) await (handle as Any).exec('PRAGMA busy_timeout=10000');
await storage.createTable();
if ('exec' in (handle as object)) await (handle as Any).exec('PRAGMA busy_timeout=0');
const told = Array.from({ length: Number(count) }, async (_, i) => {
  const outcome = storage.create({ id: BigInt(Number(first) + i), name: `${first}` }, context);
  return outcome.catch((error: Error) => `${error.name}: ${error.message}`);
});
console.log(JSON.stringify(await Promise.all(told)));
process.exit();
