// How each library of the table *Libraries on SQLite* is opened: the variables that its line on the page uses.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sqliteStorage } from 'plant-store/sqlite';
import type { BehindSqlite } from '../storages/fault-databases.js';
import { bundleOf } from '../support/bundle.js';
import { examples } from '../support/examples.js';
import { type Any, load } from '../support/installed.js';
import { newFolder } from '../support/run-folder.js';
import { type Library, pageRows } from './page-rows.js';

export interface SqliteLibrary extends Library {
  readonly behind: BehindSqlite;
}

interface Row {
  readonly open: () => Promise<SqliteLibrary>;
  /** Whether another connection looks behind it. */
  readonly isApart?: boolean;
  /** Whether its errors say whether something was stored. */
  readonly isPrecise?: boolean;
}

/**
 * Another connection, to a file that a library has opened, by the driver that the library has: two copies of SQLite in one process do
 * not see each other's locks.
 */
async function connectionTo(file: string, driver: string) {
  const { default: Database } = await load(driver);
  const database = new Database(file);
  database.exec('PRAGMA journal_mode=WAL');
  const behind = {
    run: (sql: string) => database.exec(sql),
    rows: (sql: string) => database.prepare(sql).all(),
  };
  return { behind, close: () => void database.close() };
}

async function openLibsqlClient(): Promise<SqliteLibrary & { client: Any }> {
  const { createClient } = await load('@libsql/client');
  const file = join(newFolder(), 'plants.db');
  const { behind, close } = await connectionTo(file, 'libsql');
  const client = createClient({ url: `file:${file}` });
  return {
    client,
    scope: { client },
    behind,
    async close() {
      client.close();
      close();
    },
  };
}

/** Opens D1 in workerd. The page's line runs here, on the binding. */
async function openD1(): Promise<SqliteLibrary> {
  const { Miniflare } = await load('miniflare');
  const worker = new Miniflare({
    modules: true,
    script: 'export default { fetch: () => new Response() }',
    compatibilityDate: '2025-01-01',
    d1Databases: { DB: 'plants' },
  });
  const DB = await worker.getD1Database('DB');
  const behind = {
    run: (sql: string) => DB.prepare(sql).run(),
    rows: async (sql: string) => (await DB.prepare(sql).all()).results,
  };
  return { scope: { env: { DB } }, behind, close: () => worker.dispose() };
}

/** Runs the page's line in a Durable Object of workerd, and reaches its storage by requests. */
async function openDurableObject(): Promise<SqliteLibrary> {
  const { Miniflare } = await load('miniflare');
  const script = `${readFileSync(bundleOf(examples.get('one-insert')!), 'utf8')}
    export class Plants {
      constructor(ctx) { this.ctx = ctx; this.storage = ${pageRows('Libraries on SQLite').get('Durable Objects')}; }
      async fetch(request) {
        const { sql, plant } = await request.json();
        try {
          if (sql) return Response.json(this.ctx.storage.sql.exec(sql).toArray());
          return Response.json(await this.storage.create({ ...plant, id: BigInt(plant.id) }));
        } catch (error) { return Response.json({ message: error.message }, { status: 500 }); }
      }
    }
    export default { fetch: (request, { PLANTS }) => PLANTS.get(PLANTS.idFromName('garden')).fetch(request) }`;
  const worker = new Miniflare({
    modules: true,
    script,
    compatibilityDate: '2025-01-01',
    durableObjects: { PLANTS: { className: 'Plants', useSQLite: true } },
  });
  const ask = async (question: object) => {
    const response = await worker.dispatchFetch('http://plants/', {
      method: 'POST',
      body: JSON.stringify(question),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.message);
    return answer;
  };
  const create = ({ id, ...rest }: { id: bigint }) => ask({ plant: { ...rest, id: String(id) } });
  const behind = { run: (sql: string) => ask({ sql }), rows: (sql: string) => ask({ sql }) };
  // The line has run in the object.
  const scope = { ctx: { storage: { sql: {} } }, insertStorage: () => ({ create }) };
  return { scope, behind, close: () => worker.dispose() };
}

/** By the first column of the table. */
export const onSqlite: Readonly<Record<string, Row>> = {
  '@libsql/client': { open: openLibsqlClient, isApart: true },
  '@tursodatabase/database': {
    async open() {
      const { connect } = await load('@tursodatabase/database');
      const file = join(newFolder(), 'plants.db');
      const [db, other] = [await connect(file), await connect(file)];
      const behind = {
        run: (sql: string) => other.exec(sql),
        rows: async (sql: string) => other.prepare(sql).all(),
      };
      return { scope: { db }, behind, close: async () => [await db.close(), await other.close()] };
    },
  },
  D1: { open: openD1 },
  'Drizzle on @libsql/client': {
    isApart: true,
    async open() {
      const { drizzle } = await load('drizzle-orm/libsql');
      const opened = await openLibsqlClient();
      return { ...opened, scope: { db: drizzle({ client: opened.client }) } };
    },
  },
  'Drizzle on better-sqlite3': {
    isApart: true,
    isPrecise: true,
    async open() {
      const { drizzle } = await load('drizzle-orm/better-sqlite3');
      const { default: Sqlite } = await load('better-sqlite3');
      const file = join(newFolder(), 'plants.db');
      const { behind, close } = await connectionTo(file, 'better-sqlite3');
      const db = drizzle({ client: new Sqlite(file, { timeout: 100 }) });
      return { scope: { db, sqliteStorage }, behind, close: async () => [db.$client.close(), close()] };
    },
  },
  'Durable Objects': { open: openDurableObject },
  sqlite3: {
    isApart: true,
    async open() {
      const { default: sqlite3 } = await load('sqlite3');
      const file = join(newFolder(), 'plants.db');
      const [db, other] = [new sqlite3.Database(file), new sqlite3.Database(file)];
      const [run, rows]: Any[] = [promisify(other.exec.bind(other)), promisify(other.all.bind(other))];
      const behind = { run, rows };
      await run('PRAGMA journal_mode=WAL');
      const close = async () => {
        for (const each of [db, other]) await promisify(each.close.bind(each))();
      };
      return { scope: { db, promisify }, behind, close };
    },
  },
};

/** Why a row cannot run here: its driver is a binary that an install script fetches, and packages run no scripts here. */
export async function obstacleOf(name: string): Promise<string | undefined> {
  const driver = /(better-)?sqlite3$/.exec(name)?.[0];
  if (!driver) return undefined;
  try {
    const { default: library } = await load(driver);
    // better-sqlite3 looks for its binary when it opens a database.
    if (driver === 'better-sqlite3') new library(':memory:').close();
    return undefined;
  } catch {
    return 'its binary can be neither fetched nor compiled';
  }
}
