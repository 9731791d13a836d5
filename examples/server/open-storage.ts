import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlantStorage } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { CliError, sentenceOf } from './cli-error.js';
import { installed, type SqliteDatabase, sqliteDriver } from './drivers.js';

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
 * Opens the storage that a URL describes, and creates its table. Without a URL, it is plants.db if there is a driver of
 * SQLite, otherwise memory. Rejects with one line for a person.
 *
 * Nothing prints the URL itself: it may hold a password, in more forms than any pattern finds.
 *
 * @param setting where the URL was set, for messages
 */
export async function openStorage(url: string | undefined, setting = 'DATABASE_URL'): Promise<OpenStorage> {
  try {
    if (url === undefined) return sqliteDriver() ? await openSqlite('file:plants.db') : withoutSqlite;
    const scheme = url.slice(0, url.indexOf(':') + 1);
    const open = Object.hasOwn(openers, scheme) && openers[scheme];
    if (!open) throw new CliError(`DATABASE_URL must start with one of ${Object.keys(openers).join(', ')}`);
    return await open(url);
  } catch (error) {
    throw new CliError(sentenceOf(error).replace('DATABASE_URL', setting));
  }
}

const inMemory: OpenStorage = {
  storage: memoryStorage(),
  place: 'in memory, lost on exit',
  close: async () => {},
};

const sqliteSources = 'Node 22.13 or later, or npm install libsql';

const withoutSqlite: OpenStorage = {
  ...inMemory,
  place: `${inMemory.place} (to keep plants: ${sqliteSources})`,
};

function openMemory(url: string): OpenStorage {
  if (url !== 'memory:')
    throw new CliError('DATABASE_URL must be exactly memory: (nothing is written to disk)');
  return inMemory;
}

async function openSqlite(url: string): Promise<OpenStorage> {
  const path = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
  // SQLite takes these for a temporary database: it would lose plants whose creates returned 200.
  if (path === '' || path === ':memory:')
    throw new CliError('DATABASE_URL file: requires a path, such as file:plants.db');
  if (url.includes('?')) throw new CliError('DATABASE_URL file: does not accept query parameters');
  const Driver = sqliteDriver();
  if (!Driver) throw new CliError(`DATABASE_URL file: requires ${sqliteSources}`);
  const file = resolve(path);
  await checkWritable(file);
  let database: SqliteDatabase | undefined;
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
    database = new Driver(file);
    // FULL syncs at every commit: a plant whose create returned 200 survives a power cut. Other servers may start on the same
    // file, so wait for them here.
    database.exec('PRAGMA busy_timeout=10000; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
    const storage = sqliteStorage(database);
    await storage.createTable();
    // From now on a wait for another process would block this one's event loop; plant-store retries by itself.
    database.exec('PRAGMA busy_timeout=100');
    return storage;
  });
}

/** SQLite says only "14" if it cannot write, so find the reason first. */
async function checkWritable(file: string): Promise<void> {
  const fail = (path: string, error: Error) => {
    throw new CliError(`cannot write to ${path}: ${sentenceOf(error)}`);
  };
  // The directory too, because SQLite writes its log next to the file.
  await access(dirname(file), constants.W_OK).catch((error) => fail(`the directory ${dirname(file)}`, error));
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw new CliError(`cannot write to the file ${file}: it is a directory`);
  if (found) await access(file, constants.W_OK).catch((error) => fail(`the file ${file}`, error));
}

async function openPostgres(url: string): Promise<OpenStorage> {
  checkServerUrl(url);
  const pg = installed<typeof import('pg')>('pg');
  if (!pg) throw new CliError('DATABASE_URL postgres: requires the driver pg: npm install pg');
  const place = serverPlace(
    'PostgreSQL',
    readBy(() => new pg.Client({ connectionString: url })),
  );
  // A connection that hangs is closed, so that the pool can open another.
  const pool = new pg.Pool({
    connectionString: url,
    statement_timeout: 5_000,
    connectionTimeoutMillis: 5_000,
  });
  // Without a listener, a dropped idle connection crashes the process.
  pool.on('error', (error) =>
    console.error(`plant-store: database connection dropped: ${sentenceOf(error)}`),
  );
  const close = () => pool.end();
  return opened(place, close, () => withTable(postgresStorage(pool)));
}

async function openMysql(url: string): Promise<OpenStorage> {
  checkServerUrl(url);
  const driver = installed<typeof import('mysql2/promise')>('mysql2/promise');
  if (!driver) throw new CliError('DATABASE_URL mysql: requires the driver mysql2: npm install mysql2');
  const parameters = readBy(() => new URL(url)).searchParams;
  // The driver ignores it there, and prints the names of unknown parameters.
  if ([...parameters.keys()].some((name) => name.startsWith('password')))
    throw new CliError(
      'DATABASE_URL mysql: put the password before the host: mysql://user:password@host/database',
    );
  const pool = driver.createPool({ uri: url, connectTimeout: 5_000 });
  const { connectionConfig } = pool.pool.config as unknown as { connectionConfig: Server };
  const close = () => pool.end();
  return opened(serverPlace('MySQL', connectionConfig), close, () => withTable(mysqlStorage(pool)));
}

const form =
  'DATABASE_URL must look like scheme://user:password@host:port/database; percent-encode @ / ? # in the password (%40 %2F %3F %23)';

/** An unescaped / ? or # in a password ends the host early: the rest of the password would pass for harmless parts. */
function checkServerUrl(url: string): void {
  if (!/^\w+:\/\/[^/?#]*([/?#][^@]*)?$/.test(url)) throw new CliError(form);
}

/** Parses the URL as a driver does. */
function readBy<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new CliError(`${form} (${sentenceOf(error)})`);
  }
}

/** The server as the driver itself read it from the URL. */
interface Server {
  readonly host: string;
  readonly port: number;
  readonly database?: string | undefined;
}

function serverPlace(engine: string, { host, port, database }: Server): string {
  return `${engine} at ${host}:${port}${database ? `, database ${database}` : ''}`;
}

/** Prepares a storage; if that fails, closes it and throws an error that names it. */
async function opened(
  place: string,
  close: () => Promise<void>,
  prepare: () => Promise<PlantStorage>,
): Promise<OpenStorage> {
  try {
    return { storage: await prepare(), place, close };
  } catch (error) {
    await close();
    throw new CliError(`cannot open ${place}: ${sentenceOf(error)}`);
  }
}

/** Creates the table. What plant-store says of a failure has the words of the database behind it: no request has a part in it. */
async function withTable<T extends { createTable(): Promise<void> }>(storage: T): Promise<T> {
  await storage.createTable().catch(({ message }: Error) => {
    throw new CliError(message.replace(/\s+/g, ' '));
  });
  return storage;
}
