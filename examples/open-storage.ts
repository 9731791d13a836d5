import { fileURLToPath } from 'node:url';
import type { PlantStorage } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';

/** A storage, and how to let go of it. */
export interface OpenStorage {
  readonly storage: PlantStorage;
  readonly close: () => Promise<void>;
}

const openers: Record<string, (url: string) => Promise<OpenStorage>> = {
  'memory:': async () => ({ storage: memoryStorage(), close: async () => {} }),
  'file:': openSqlite,
  'postgres:': openPostgres,
  'postgresql:': openPostgres,
  'mysql:': openMysql,
};

/** Opens what a `DATABASE_URL` names, its table made. Rejects with one line for a person. */
export async function openStorage(url: string): Promise<OpenStorage> {
  const scheme = /^\w*:?/.exec(url)![0];
  const open = Object.hasOwn(openers, scheme) && openers[scheme];
  if (!open) {
    const schemes = Object.keys(openers).join(', ');
    throw new Error(`DATABASE_URL must start with one of ${schemes}, not ${JSON.stringify(scheme)}`);
  }
  return open(url).catch((error) => {
    throw new Error(`cannot use DATABASE_URL ${withoutPassword(url)}: ${oneLine(error)}`);
  });
}

/** For people to read: neither in `user:password@` nor as a parameter. */
export function withoutPassword(url: string): string {
  return url.replace(/(:\/\/[^:@/?]*):[^@]*@/, '$1:…@').replace(/([?&]password=)[^&]*/, '$1…');
}

/** What a driver says, on one line: an error of several addresses has its message in its parts. */
function oneLine(error: NodeJS.ErrnoException & { errors?: Error[] }): string {
  const message = error.message || error.errors?.[0]?.message || error.code || String(error);
  return message.replace(/\s+/g, ' ').trim();
}

async function openSqlite(url: string): Promise<OpenStorage> {
  const { default: Database } = await import('libsql');
  const database = new Database(url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length));
  // FULL syncs at every commit: what was answered survives a power cut. The wait for another process blocks this
  // one's event loop, so it is short; plant-store comes back by itself.
  database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  const storage = sqliteStorage(database);
  await storage.createTable();
  return { storage, close: async () => void database.close() };
}

async function openPostgres(url: string): Promise<OpenStorage> {
  const { default: pg } = await import('pg');
  // A connection that hangs is given up, so that the pool can make another.
  const pool = new pg.Pool({ connectionString: url, query_timeout: 10_000, connectionTimeoutMillis: 5_000 });
  // Without a listener, an idle connection that is lost ends the process.
  pool.on('error', (error) => console.error(`plant-store: lost a connection: ${oneLine(error)}`));
  const storage = postgresStorage(pool);
  try {
    await storage.createTable();
  } catch (error) {
    await pool.end();
    throw error;
  }
  return { storage, close: () => pool.end() };
}

async function openMysql(url: string): Promise<OpenStorage> {
  const { createPool } = await import('mysql2/promise');
  const pool = createPool({ uri: url, connectTimeout: 5_000 });
  const storage = mysqlStorage(pool);
  try {
    await storage.createTable();
  } catch (error) {
    await pool.end();
    throw error;
  }
  return { storage, close: () => pool.end() };
}
