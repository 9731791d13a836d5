/** Runs the storage cases on the driver of SQLite whose module and class are the arguments, and then the app's own triggers. */
import { type SqliteDatabase, sqliteStorage } from 'plant-store/sqlite';
import { plantOf } from '../../support/tables.js';
import { peerCases, report } from './cases.js';

const [, , module, name] = process.argv;
const { [name!]: Database } = await import(module!);

/** @param isKnown whether the storage has created a plant before these statements: it has then looked at the table */
async function open(sql = '', isKnown = false) {
  const database: SqliteDatabase & { close(): void } = new Database(':memory:');
  const storage = sqliteStorage(database);
  await storage.createTable();
  if (isKnown) await storage.create({ id: 99n, name: 'Ilex' }, {} as never);
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

const openPeer = (isKnown: boolean) => (statements: readonly string[]) =>
  open(statements.join(';'), isKnown).catch((error) => {
    // Node 22.13 has no FTS5.
    if (/no such module/.test(error.message)) return undefined;
    throw error;
  });

await report(
  () => open(),
  [
    ...peerCases(openPeer(false), 'RolledBack'),
    // What a migration adds while the app runs. A trigger that drops or moves the row is then not seen.
    ...peerCases(openPeer(true)),
  ],
);
