import { type SqliteDatabase, sqliteStorage } from 'plant-store/sqlite';
import { type OpenedStorage, storageCases } from 'plant-store/testing';
import { plantOf } from '../../support/tables.js';

/** Runs the storage cases and prints the failures. Each runtime and driver runs this in its own program. */
export async function report(open: () => Promise<OpenedStorage<unknown>>): Promise<void> {
  const failed: string[] = [];
  const cases = storageCases(open);
  for (const { id, run } of cases) await run().catch((error) => failed.push(`${id}: ${error.message}`));
  console.log(JSON.stringify({ cases: cases.length, failed }));
  process.exit(0);
}

/** `sqliteStorage` on a new database in memory. `peek` reads the ids as text. */
export async function openSqlite(
  open: () => SqliteDatabase & { close(): void },
): Promise<OpenedStorage<unknown>> {
  const database = open();
  const storage = sqliteStorage(database);
  await storage.createTable();
  const select = database.prepare(
    "SELECT printf('%d', id) AS id, name, tag FROM plants WHERE id = CAST(? AS INTEGER)",
  );
  return {
    storage,
    caller: 'anyone',
    peek: (id) => plantOf(select.all(String(id))[0] as Record<string, unknown>),
    close: () => database.close(),
  };
}
