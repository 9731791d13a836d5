// How each library of the table *Libraries on SQLite* is opened: the variables that its line on the page uses.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BehindSqlite } from '../storages/fault-databases.js';
import { bundleOf } from '../support/bundle.js';
import { Doorway } from '../support/doorway.js';
import { type Any, load } from '../support/installed.js';
import { newFolder } from '../support/run-folder.js';
import { d1Binding } from './d1-binding.js';
import { type Library, pageRows } from './page-rows.js';
import { obstacleOfSqld, startSqld } from './sqld.js';

export interface SqliteLibrary extends Library {
  readonly behind: BehindSqlite;
  /** What a client of a server connects through. */
  readonly doorway?: Doorway;
}

interface Row {
  readonly open: () => Promise<SqliteLibrary>;
  /** Whether another connection looks behind it. */
  readonly isApart?: boolean;
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
  const client = createClient({ url: `file:${file}`, timeout: 100 });
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

/** Starts libSQL's server, and connects a client to it through a doorway. */
async function openServer(connectTo: (url: string) => Promise<Any>): Promise<SqliteLibrary> {
  const { connect } = await load('@tursodatabase/serverless');
  const server = await startSqld();
  const doorway = await Doorway.before({ host: '127.0.0.1', port: server.port });
  const handle = await connectTo(`http://127.0.0.1:${doorway.port}`);
  const connection = connect({ url: server.url });
  const behind = {
    run: (sql: string) => connection.exec(sql),
    rows: async (sql: string) => (await connection.prepare(sql)).all(),
  };
  return {
    scope: { client: handle, db: handle },
    behind,
    doorway,
    async close() {
      await handle.close();
      await connection.close();
      doorway.close();
      await server.stop();
    },
  };
}

/** Starts workerd with this script, which has a D1. */
async function startWorker(script: string, bindings: object = {}) {
  const { Miniflare } = await load('miniflare');
  const d1Databases = { DB: 'plants' };
  return new Miniflare({ modules: true, script, compatibilityDate: '2025-01-01', d1Databases, ...bindings });
}

/** Opens D1 in workerd, with its binding here. */
export async function openD1(): Promise<SqliteLibrary> {
  const worker = await startWorker('export default { fetch: () => new Response() }');
  const DB = await worker.getD1Database('DB');
  const behind = {
    run: (sql: string) => DB.prepare(sql).run(),
    rows: async (sql: string) => (await DB.prepare(sql).all()).results,
  };
  return { scope: { env: { DB } }, behind, close: () => worker.dispose() };
}

/** Opens D1 in workerd, by a binding that sends each batch as one request. By Miniflare's own, 141 tables took 294 s to check, for 37. */
export async function openD1ByRequests(): Promise<SqliteLibrary> {
  const worker = await startWorker(readFileSync(bundleOf('test/ecosystem/d1-worker.ts'), 'utf8'));
  const DB = d1Binding(String(await worker.ready));
  const rows = async (sql: string) => (await DB.batch([DB.prepare(sql)]))[0]!.results;
  return { scope: { env: { DB } }, behind: { run: rows, rows }, close: () => worker.dispose() };
}

/**
 * Runs a line of the page in workerd, where a call of a binding takes a hundredth of the time that one from Node takes, and reaches its
 * storage by requests.
 */
async function openInWorkerd(where: 'D1' | 'Durable Objects'): Promise<SqliteLibrary> {
  const line = pageRows('Libraries on SQLite').get(where);
  // A Worker may export nothing but classes and handlers.
  const bundle = readFileSync(bundleOf('adapters/storages/sqlite.ts'), 'utf8');
  const script = `${bundle.replace(/^export \{[^}]*\};$/m, '')}
    async function answer(request, storage, run) {
      const { sql, plant } = await request.json();
      try {
        if (sql) return Response.json(await run(sql));
        const context = { signal: new AbortController().signal };
        return Response.json(await storage.create({ ...plant, id: BigInt(plant.id) }, context));
      } catch (error) { return Response.json({ name: error.name, message: error.message }, { status: 500 }); }
    }
    export class Plants {
      constructor(ctx) { this.ctx = ctx; if (${where !== 'D1'}) this.storage = ${line}; }
      fetch(request) { return answer(request, this.storage, (sql) => this.ctx.storage.sql.exec(sql).toArray()); }
    }
    let onD1;
    export default {
      fetch(request, env) {
        if (${where !== 'D1'}) return env.PLANTS.get(env.PLANTS.idFromName('garden')).fetch(request);
        onD1 ??= ${line};
        return answer(request, onD1, async (sql) => (await env.DB.prepare(sql).all()).results);
      }
    }`;
  const durableObjects = { PLANTS: { className: 'Plants', useSQLite: true } };
  const worker = await startWorker(script, { durableObjects });
  const ask = async (question: object) => {
    const response = await worker.dispatchFetch('http://plants/', {
      method: 'POST',
      body: JSON.stringify(question),
    });
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.message), { name: answer.name });
    return answer;
  };
  const create = ({ id, ...rest }: { id: bigint }) => ask({ plant: { ...rest, id: String(id) } });
  const behind = { run: (sql: string) => ask({ sql }), rows: (sql: string) => ask({ sql }) };
  // The line has run in workerd.
  const scope = { ctx: { storage: {} }, env: {}, sqliteStorage: () => ({ create }) };
  return { scope, behind, close: () => worker.dispose() };
}

async function openTurso(): Promise<SqliteLibrary> {
  const { connect } = await load('@tursodatabase/database');
  const file = join(newFolder(), 'plants.db');
  const [db, other] = [await connect(file), await connect(file)];
  const behind = {
    run: (sql: string) => other.exec(sql),
    rows: async (sql: string) => other.prepare(sql).all(),
  };
  return { scope: { db }, behind, close: async () => [await db.close(), await other.close()] };
}

/** Opens a file by sqlite3, and another connection behind it. */
async function openSqlite3(connect: (file: string, sqlite3: Any) => Promise<Any>): Promise<SqliteLibrary> {
  const { default: sqlite3 } = await load('sqlite3');
  const file = join(newFolder(), 'plants.db');
  const [db, other] = [await connect(file, sqlite3), new sqlite3.Database(file)];
  const [run, rows]: Any[] = [promisify(other.exec.bind(other)), promisify(other.all.bind(other))];
  await run('PRAGMA journal_mode=WAL');
  const close = async () => promisify(other.close.bind(other))();
  return { scope: { db }, behind: { run, rows }, close };
}

/** By the first column of the table; behind a comma, how else a row is opened. */
export const onSqlite: Readonly<Record<string, Row>> = {
  '@libsql/client': { open: openLibsqlClient, isApart: true },
  '@libsql/client, by HTTP': {
    isApart: true,
    async open() {
      const { createClient } = await load('@libsql/client');
      return openServer(async (url) => createClient({ url, intMode: 'bigint' }));
    },
  },
  '@tursodatabase/serverless': {
    isApart: true,
    async open() {
      const { connect } = await load('@tursodatabase/serverless');
      return openServer(async (url) => connect({ url }));
    },
  },
  '@tursodatabase/serverless, the layer for libSQL': {
    isApart: true,
    async open() {
      const { createClient } = await load('@tursodatabase/serverless/compat');
      return openServer(async (url) => createClient({ url }));
    },
  },
  '@tursodatabase/database': { open: openTurso },
  D1: { open: () => openInWorkerd('D1') },
  'Durable Objects': { open: () => openInWorkerd('Durable Objects') },
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
    async open() {
      const { drizzle } = await load('drizzle-orm/better-sqlite3');
      const { default: Sqlite } = await load('better-sqlite3');
      const file = join(newFolder(), 'plants.db');
      const { behind, close } = await connectionTo(file, 'better-sqlite3');
      const db = drizzle({ client: new Sqlite(file, { timeout: 100 }) });
      return { scope: { db }, behind, close: async () => [db.$client.close(), close()] };
    },
  },
  'libsql/promise': {
    isApart: true,
    async open() {
      const { default: Database } = await load('libsql/promise');
      const file = join(newFolder(), 'plants.db');
      const { behind, close } = await connectionTo(file, 'libsql');
      const db = new Database(file);
      return { scope: { db }, behind, close: async () => [db.close(), close()] };
    },
  },
  sqlite: {
    isApart: true,
    async open() {
      const { open } = await load('sqlite');
      return openSqlite3((filename, sqlite3) => open({ filename, driver: sqlite3.Database }));
    },
  },
  sqlite3: {
    isApart: true,
    open: () => openSqlite3(async (file, sqlite3) => new sqlite3.Database(file)),
  },
};

/** Rows of libraries that run on phones alone, and of one that `reading.heavy.ts` runs. */
export const notBridges: ReadonlySet<string> = new Set(['expo-sqlite', 'op-sqlite', 'Drizzle on D1']);

const isServed = (name: string) => /HTTP|serverless/.test(name);

/** Why a row cannot run here: its driver is a binary that an install script fetches, and packages run no scripts here; or the server is one of Linux. */
export async function obstacleOf(name: string): Promise<string | undefined> {
  const [, driver] = /((?:better-)?sqlite3)$/.exec(name.replace(/^sqlite$/, 'sqlite3')) ?? [];
  if (!driver) return isServed(name) ? obstacleOfSqld() : undefined;
  try {
    const { default: library } = await load(driver);
    // better-sqlite3 looks for its binary when it opens a database.
    if (driver === 'better-sqlite3') new library(':memory:').close();
    return undefined;
  } catch {
    return 'its binary can be neither fetched nor compiled';
  }
}
