/** Runs the storage cases on the driver of SQLite whose module and class are the arguments, and then the app's own triggers. */
import { type SqliteDatabase, sqliteStorage } from 'plant-store/sqlite';
import { plantOf } from '../../support/tables.js';
import { peerCases, report } from './cases.js';

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

const openPeer = (statements: readonly string[]) =>
  open(statements.join(';')).catch((error) => {
    // Node 22.13 has no FTS5.
    if (/no such module/.test(error.message)) return undefined;
    throw error;
  });

await report(open, peerCases(openPeer, 'RolledBack'));
