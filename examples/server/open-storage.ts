import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlantStorage } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';

export interface OpenStorage {
  readonly storage: PlantStorage;
  /** Where the plants are, in words that hold no secret. */
  readonly place: string;
  readonly close: () => Promise<void>;
}

const openers: Record<string, (url: string) => OpenStorage | Promise<OpenStorage>> = {
  'memory:': openMemory,
  'file:': openSqlite,
  'postgres:': openPostgres,
  'postgresql:': openPostgres,
  'mysql:': openMysql,
};

/**
 * Opens the storage that a `DATABASE_URL` names, and makes its table. Rejects with one line for a person.
 *
 * Nothing prints the URL itself: it may hold a password, in more forms than any pattern finds.
 */
export async function openStorage(url: string): Promise<OpenStorage> {
  const scheme = url.slice(0, url.indexOf(':') + 1);
  const open = Object.hasOwn(openers, scheme) && openers[scheme];
  if (!open) throw new Error(`DATABASE_URL must start with one of ${Object.keys(openers).join(', ')}`);
  return open(url);
}

function openMemory(url: string): OpenStorage {
  if (url !== 'memory:')
    throw new Error('DATABASE_URL memory: takes no name, because its plants are gone when it stops');
  return { storage: memoryStorage(), place: 'in memory, lost on exit', close: async () => {} };
}

async function openSqlite(url: string): Promise<OpenStorage> {
  const path = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
  // SQLite takes these for a temporary database: it would lose plants that were acknowledged.
  if (path === '' || path === ':memory:') throw new Error('DATABASE_URL file: needs the name of a file');
  if (url.includes('?')) throw new Error('DATABASE_URL file: takes no parameters');
  const file = resolve(path);
  await checkWritable(file);
  const { default: Database } = await import('libsql');
  let database: InstanceType<typeof Database> | undefined;
  const close = async () => {
    try {
      // Moves the plants from the log next to the file into the file itself.
      database?.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // They stay in the log, which the next start reads.
    }
    database?.close();
  };
  return opened(file, close, async () => {
    database = new Database(file);
    // FULL syncs at every commit: what was answered survives a power cut. The wait for another process blocks this
    // one's event loop, so it is short; plant-store comes back by itself.
    database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
    const storage = sqliteStorage(database);
    await storage.createTable();
    return storage;
  });
}

/** SQLite says only "14" if it cannot write, so what is wrong is found out before it is asked. */
async function checkWritable(file: string): Promise<void> {
  const fail = (path: string, { message }: Error) => {
    const [, reason = message] = /^\w+: (.*), access /.exec(message) ?? [];
    throw new Error(`cannot write to ${path}: ${reason}`);
  };
  // The folder too, because SQLite keeps its log beside the file.
  await access(dirname(file), constants.W_OK).catch((error) => fail(`the folder ${dirname(file)}`, error));
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw new Error(`cannot write to the file ${file}: it is a folder`);
  if (found) await access(file, constants.W_OK).catch((error) => fail(`the file ${file}`, error));
}

async function openPostgres(url: string): Promise<OpenStorage> {
  checkServerUrl(url);
  const { default: pg } = await import('pg');
  const place = serverPlace(
    'PostgreSQL',
    readBy(() => new pg.Client({ connectionString: url })),
  );
  // A connection that hangs is given up, so that the pool can make another.
  const pool = new pg.Pool({ connectionString: url, query_timeout: 10_000, connectionTimeoutMillis: 5_000 });
  // Without a listener, a dropped idle connection crashes the process.
  pool.on('error', (error) => console.error(`plant-store: lost a connection: ${oneLine(error)}`));
  const close = () => pool.end();
  return opened(place, close, async () => {
    const storage = postgresStorage(pool);
    await storage.createTable();
    return storage;
  });
}

async function openMysql(url: string): Promise<OpenStorage> {
  checkServerUrl(url);
  const { createPool } = await import('mysql2/promise');
  const parameters = readBy(() => new URL(url)).searchParams;
  // The driver ignores it there, and prints the names of parameters that it does not know.
  if ([...parameters.keys()].some((name) => name.startsWith('password')))
    throw new Error('DATABASE_URL mysql: takes a password only before the host');
  const pool = createPool({ uri: url, connectTimeout: 5_000 });
  const { connectionConfig } = pool.pool.config as unknown as { connectionConfig: Server };
  const close = () => pool.end();
  return opened(serverPlace('MySQL', connectionConfig), close, async () => {
    const storage = mysqlStorage(pool);
    await storage.createTable();
    return storage;
  });
}

const form =
  'DATABASE_URL must read scheme://user:password@host:port/database; in a password write @ / ? # as %40 %2F %3F %23';

/** An unescaped / ? or # in a password ends the host early: the rest of the password would pass for harmless parts. */
function checkServerUrl(url: string): void {
  if (!/^\w+:\/\/[^/?#]*([/?#][^@]*)?$/.test(url)) throw new Error(form);
}

/** What a driver makes of the URL. */
function readBy<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${form} (${oneLine(error as Error)})`);
  }
}

/** What the driver itself read from the URL. */
interface Server {
  readonly host: string;
  readonly port: number;
  readonly database?: string | undefined;
}

function serverPlace(engine: string, { host, port, database }: Server): string {
  return `${engine} at ${host}:${port}${database ? `, database ${database}` : ''}`;
}

/** Prepares a storage; if that fails, lets go of it and says which it was. */
async function opened(
  place: string,
  close: () => Promise<void>,
  prepare: () => Promise<PlantStorage>,
): Promise<OpenStorage> {
  try {
    return { storage: await prepare(), place, close };
  } catch (error) {
    await close();
    throw new Error(`cannot use ${place}: ${oneLine(error as Error)}`);
  }
}

/** What a driver says, on one line: an error of several addresses has its message in its parts. */
function oneLine(error: NodeJS.ErrnoException & { errors?: Error[] }): string {
  const message = error.message || error.errors?.[0]?.message || error.code || String(error);
  return message.replace(/\s+/g, ' ').trim();
}
