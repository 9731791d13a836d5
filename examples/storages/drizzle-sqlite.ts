// Drizzle on SQLite, with exact ids: `DATABASE=/var/lib/plants/plants.db node --import tsx examples/storages/drizzle-sqlite.ts`.
import { createServer } from 'node:http';
import { isAbsolute } from 'node:path';
import { eq } from 'drizzle-orm';
import { customType, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { drizzle } from 'drizzle-orm/sqlite-proxy';
import Database from 'libsql';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { sqliteStorage } from 'plant-store/sqlite';

// Drizzle's own integer() reads 9007199254740993 as 9007199254740992.
const int64 = customType<{ data: bigint; driverData: bigint }>({ dataType: () => 'integer' });
const plants = sqliteTable('plants', { id: int64().primaryKey(), name: text().notNull(), tag: text() });

const { DATABASE = '' } = process.env;
// A relative path is another file in another working directory.
if (!isAbsolute(DATABASE)) throw new Error('DATABASE must be the absolute path of a file');
const client = new Database(DATABASE);
client.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');

// With better-sqlite3: `client.defaultSafeIntegers()`, then `drizzle({ client })` from drizzle-orm/better-sqlite3.
const database = drizzle(async (sql, values, method) => {
  const statement = client.prepare(sql);
  if (method === 'run') return { rows: [statement.run(...values)] };
  const rows = statement
    .raw()
    .safeIntegers()
    .all(...values);
  return { rows: method === 'get' ? (rows[0] as unknown[]) : rows };
});

export const storage = sqliteStorage(client);
await storage.createTable(); // or your migration

/** The app's own query, typed by Drizzle. */
export async function find(id: bigint) {
  const [plant] = await database.select().from(plants).where(eq(plants.id, id));
  return plant && { ...plant, tag: plant.tag ?? undefined };
}

export const server = createServer(toNode(createPlantStore(storage, acceptTokens('secret'))));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
