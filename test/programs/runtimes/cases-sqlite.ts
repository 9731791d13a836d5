/** Runs the storage cases on the driver of SQLite whose module and class are the arguments, and then the app's own triggers. */
import assert from 'node:assert/strict';
import type { PlantStorage } from 'plant-store';
import { type SqliteDatabase, sqliteStorage } from 'plant-store/sqlite';
import { changingTheId, droppingEachRow, onSqlite } from '../../storages/peers-sqlite-tables.js';
import { plantOf } from '../../support/tables.js';
import { report } from './cases.js';

const [, , module, name] = process.argv;
const { [name!]: Database } = await import(module!);

async function open(sql = '') {
  const database: SqliteDatabase & { close(): void } = new Database(':memory:');
  const storage = sqliteStorage(database);
  await storage.createTable();
  if (sql) database.exec(sql);
  // The ids as text, because drivers round them.
  const select = database.prepare(
    "SELECT printf('%d', id) AS id, name, tag FROM plants WHERE id = CAST(? AS INTEGER)",
  );
  return {
    storage,
    caller: 'anyone',
    peek: (id: bigint) => plantOf(select.all(String(id))[0] as Record<string, unknown>),
    close: () => database.close(),
  };
}

/** Creates a plant alone, then several at once, and then each of them again: returns what the creates were told. */
async function outcomesOf(storage: PlantStorage): Promise<string[]> {
  const told = (id: number) =>
    storage.create({ id: BigInt(id), name: 'Rosa' }, {} as never).catch((error: Error) => error.name);
  return [await told(1), ...(await Promise.all([2, 3, 4, 1].map(told)))];
}

async function expectOutcomes(sql: string, expected: readonly string[]): Promise<void> {
  const opened = await open(sql).catch((error) => {
    // Node 22.13 has no FTS5.
    if (/no such module/.test(error.message)) return undefined;
    throw error;
  });
  if (!opened) return;
  const { storage, peek, close } = opened;
  assert.deepEqual(await outcomesOf(storage), expected);
  for (const id of [1n, 2n, 3n, 4n]) assert.equal((await peek(id)) !== undefined, expected[0] === 'created');
  close();
}

const peers = [
  ...Object.entries(onSqlite).map(
    ([name, sql]) => [name, sql, ['created', 'created', 'created', 'created', 'taken']] as const,
  ),
  ...[droppingEachRow, changingTheId].map((sql) => [sql, sql, Array(5).fill('RolledBack')] as const),
];

await report(
  open,
  peers.map(([id, sql, expected]) => ({ id, run: () => expectOutcomes(sql, expected) })),
);
