/** Runs the storage cases on the driver of SQLite whose module and class are the arguments. */
import { type SqliteDatabase, sqliteStorage } from 'plant-store/sqlite';
import { plantOf } from '../../support/tables.js';
import { report } from './cases.js';

const [, , module, name] = process.argv;
const { [name!]: Database } = await import(module!);

await report(async () => {
  const database: SqliteDatabase & { close(): void } = new Database(':memory:');
  const storage = sqliteStorage(database);
  await storage.createTable();
  // The ids as text, because drivers round them.
  const select = database.prepare(
    "SELECT printf('%d', id) AS id, name, tag FROM plants WHERE id = CAST(? AS INTEGER)",
  );
  return {
    storage,
    caller: 'anyone',
    peek: (id) => plantOf(select.all(String(id))[0] as Record<string, unknown>),
    close: () => database.close(),
  };
});
