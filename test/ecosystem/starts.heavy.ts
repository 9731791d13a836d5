// Several processes of an app start on one file of SQLite: each creates the table, checks it, and creates plants.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundleOf } from '../support/bundle.js';
import { ecosystemFolder, load } from '../support/installed.js';
import { newFile } from '../support/run-folder.js';
import { obstacleOf } from './libraries-sqlite.js';

/** How a process opens `file`. */
const handles: Record<string, string> = {
  libsql: "new (await import('libsql')).default(file)",
  'better-sqlite3': "new (await import('better-sqlite3')).default(file, { timeout: 100 })",
  'libsql/promise': "new (await import('libsql/promise')).default(file, {})",
  '@libsql/client': "(await import('@libsql/client')).createClient({ url: 'file:' + file, timeout: 5_000 })",
  sqlite3: "new (await import('sqlite3')).default.Database(file)",
  sqlite:
    "await (await import('sqlite')).open({ filename: file, driver: (await import('sqlite3')).default.Database })",
};

const perProcess = 20;

/** Returns what the creates of a process were told. */
async function start(handle: string, file: string, first: number): Promise<string[]> {
  const program = `
    const { sqliteStorage } = await import(${JSON.stringify(bundleOf('adapters/storages/sqlite.ts'))});
    const file = ${JSON.stringify(file)};
    const storage = sqliteStorage(${handle});
    await storage.createTable();
    await storage.check();
    const context = { signal: new AbortController().signal };
    const told = [];
    for (let id = ${first}; id < ${first + perProcess}; id += 4)
      told.push(...(await Promise.all([0, 1, 2, 3].map((i) =>
        storage.create({ id: BigInt(id + i), name: 'Rosa' }, context).catch(({ name }) => name)))));
    console.log(JSON.stringify(told));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: ecosystemFolder(),
  });
  return JSON.parse(stdout);
}

for (const [name, handle] of Object.entries(handles)) {
  const obstacle = await obstacleOf(name);
  describe.skipIf(obstacle)(obstacle ? `${name} (skipped: ${obstacle})` : name, () => {
    it.each([
      [2, 'WAL'],
      [4, 'WAL'],
      [2, 'DELETE'],
      [4, 'DELETE'],
    ])(
      '%i processes start on a new file, with journal_mode=%s: each plant is created',
      async (count, mode) => {
        const file = newFile();
        const { default: Database } = await load('libsql');
        const database = new Database(file);
        database.exec(`PRAGMA journal_mode=${mode}; CREATE TABLE app (n INTEGER)`);
        database.close();
        const told = await Promise.all(
          Array.from({ length: count }, (_, i) => start(handle, file, i * perProcess)),
        );
        expect(told.flat()).toEqual(Array(count * perProcess).fill('created'));
      },
    );
  });
}
