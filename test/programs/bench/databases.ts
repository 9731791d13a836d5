/** SQLite on a file, PostgreSQL and MySQL: 64 creates at a time, and lone ones. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import mysql from 'mysql2/promise';
import pg from 'pg';
import {
  acceptTokens,
  createPlantStore,
  type NewPlant,
  type PlantStorage,
  type StorageContext,
} from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import type { Contenders, Work } from './contender.js';
import { names, path, token } from './load.js';

const creators = 64;

export const databases: Contenders = {
  /** The storage of this package; `stored` plants are there before. */
  async sqlite(stored = '0') {
    const database = openSqlite();
    const storage = sqliteStorage(database);
    await storage.createTable();
    fillSqlite(database, Number(stored));
    return concurrent(storage);
  },
  async 'sqlite-handle'() {
    const storage = sqliteStorage(openSqlite());
    await storage.createTable();
    return throughHandle(storage);
  },
  /** A transaction a plant. */
  'sqlite-single': () => concurrent(singly(openSqlite())),
  'sqlite-single-handle': () => throughHandle(singly(openSqlite())),
  /** Nothing but transactions of 64 plants. */
  'sqlite-bare'(stored = '0') {
    const database = openSqlite();
    const inTransaction = transactions(database);
    fillSqlite(database, Number(stored));
    return bare(inTransaction);
  },

  async postgres(table, stored = '0') {
    const pool = await openPostgres(table!, Number(stored));
    return concurrent(postgresStorage(pool, { table: tableOf(table!) }));
  },
  async 'postgres-handle'(table) {
    const pool = await openPostgres(table!);
    return throughHandle(postgresStorage(pool, { table: tableOf(table!) }));
  },
  /** An INSERT a plant. */
  'postgres-single': async (table) => concurrent(inserts(await openPostgres(table!), table!)),
  'postgres-single-handle': async (table) => throughHandle(inserts(await openPostgres(table!), table!)),
  async 'postgres-bare'(table, stored = '0') {
    const pool = await openPostgres(table!, Number(stored));
    const insert = `INSERT INTO ${tableOf(table!)} SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
      ON CONFLICT (id) DO NOTHING RETURNING id::text`;
    return bare(async (plants) => {
      const columns = [
        plants.map(({ id }) => String(id)),
        plants.map(({ name }) => name),
        plants.map(({ tag }) => tag),
      ];
      await pool.query(insert, columns);
    });
  },

  /** One create at a time, through `handle`, and by the INSERT that people write on the same pool. */
  async 'sqlite-lone'() {
    const storage = sqliteStorage(openSqlite());
    await storage.createTable();
    return lone(storage);
  },
  'sqlite-lone-insert': () => {
    const insert = prepareInsert(openSqlite());
    return alone(asItIs, async ({ id, name, tag }) => {
      if (insert.run(String(id), name, tag).changes !== 1) throw new Error('taken');
    });
  },
  async 'postgres-lone'(server, table) {
    const pool = await openPostgres(table!, 0, server);
    return lone(postgresStorage(pool, { table: tableOf(table!) }));
  },
  async 'postgres-lone-insert'(server, table) {
    const { create } = inserts(await openPostgres(table!, 0, server), table!);
    return alone(asItIs, async (plant) => {
      if ((await create(plant, new Context())) !== 'created') throw new Error('taken');
    });
  },
  async 'mysql-lone'(table) {
    const pool = await openMysql(table!);
    return lone(mysqlStorage(pool, { table: tableOf(table!) }));
  },
  async 'mysql-lone-insert'(table) {
    const pool = await openMysql(table!);
    const insert = `INSERT INTO ${tableOf(table!)} (id, name, tag) VALUES (?, ?, ?)`;
    return alone(asItIs, async ({ id, name, tag }) => {
      await pool.execute(insert, [String(id), name, tag ?? null]);
    });
  },
};

/** Lone creates with the token, the JSON and the response. */
function lone(storage: PlantStorage): Work {
  const handle = createPlantStore(storage, acceptTokens(token));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return alone(bodyOf, async (body) => {
    const answer = await handle({ method: 'POST', url: path, headers, body });
    if (answer.status !== 200) throw new Error(answer.body);
  });
}

/** Nothing but a statement or a transaction for 64 plants. */
function bare(insert: (plants: readonly NewPlant[]) => void | Promise<void>): Work {
  let plants: NewPlant[] = [];
  return {
    operations: creators,
    prepare() {
      plants = newPlants(creators);
    },
    run: () => insert(plants),
  };
}

/** As `concurrent`, each create with the token, the JSON and the response. */
function throughHandle(storage: PlantStorage): Work {
  const handle = createPlantStore(storage, acceptTokens(token));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return together(bodyOf, async (body) => {
    const answer = await handle({ method: 'POST', url: path, headers, body });
    if (answer.status !== 200) throw new Error(answer.body);
  });
}

/** Flat, as a decoded body is: V8 would keep the string of a template as a tree, and flatten it in the measured time. */
function bodyOf({ id, name, tag }: NewPlant): string {
  return Buffer.from(`{"id":${id},"name":"${name}","tag":"${tag}"}`).toString();
}

/** Creates by the storage itself, 64 at a time. */
function concurrent({ create }: Pick<PlantStorage, 'create'>): Work {
  const latencies: number[] = [];
  const work = together(asItIs, async (plant) => {
    const start = performance.now();
    const outcome = await create(plant, new Context());
    if (outcome !== 'created') throw new Error(outcome);
    latencies.push((performance.now() - start) * 1000);
  });
  return { ...work, latencies };
}

/** 64 creators, each of which creates its next item when the last one is created. */
function together<Item>(itemOf: (plant: NewPlant) => Item, create: (item: Item) => Promise<void>): Work {
  const each = 8;
  let items: Item[] = [];
  const creator = async (_: unknown, first: number) => {
    for (let i = first; i < items.length; i += creators) await create(items[i]!);
  };
  return {
    operations: creators * each,
    prepare() {
      items = newPlants(creators * each).map(itemOf);
    },
    async run() {
      await Promise.all(Array.from({ length: creators }, creator));
    },
  };
}

const asItIs = (plant: NewPlant) => plant;

/** A create in each turn of the event loop. */
function alone<Item>(itemOf: (plant: NewPlant) => Item, create: (item: Item) => Promise<unknown>): Work {
  const latencies: number[] = [];
  return {
    operations: 1,
    latencies,
    async run() {
      const [plant] = newPlants(1);
      const item = itemOf(plant!);
      await new Promise((nextTurn) => setImmediate(nextTurn));
      const start = performance.now();
      await create(item);
      latencies.push((performance.now() - start) * 1000);
    },
  };
}

/** As `handle` makes it: the signal when it is asked for. */
class Context implements StorageContext<unknown> {
  readonly request = { method: 'POST', url: '/plants', headers: {} };
  readonly caller = 'anyone';
  get signal(): AbortSignal {
    return new AbortController().signal;
  }
}

let nextId = 1_000_000_000n;
function newPlants(count: number): NewPlant[] {
  return Array.from({ length: count }, (_, i) => ({
    id: nextId++,
    name: names[i % names.length]!,
    tag: 'hedge',
  }));
}

function openSqlite(): Database.Database {
  const folder = mkdtempSync(join(tmpdir(), 'plants-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true }));
  const database = new Database(join(folder, 'plants.db'));
  database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  return database;
}

function singly(database: Database.Database): PlantStorage {
  const inTransaction = transactions(database);
  return {
    async create(plant) {
      inTransaction([plant]);
      return 'created';
    },
  };
}

function transactions(database: Database.Database): (plants: readonly NewPlant[]) => void {
  const insert = prepareInsert(database);
  return (plants) => {
    database.exec('BEGIN IMMEDIATE');
    for (const { id, name, tag } of plants) insert.run(String(id), name, tag);
    database.exec('COMMIT');
  };
}

function prepareInsert(database: Database.Database): Database.Statement {
  database.exec('CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
  return database.prepare('INSERT INTO plants VALUES (CAST(? AS INTEGER), ?, ?) ON CONFLICT (id) DO NOTHING');
}

/** Below all ids that come after. */
function fillSqlite(database: Database.Database, plants: number): void {
  if (plants === 0) return;
  database.exec(`PRAGMA synchronous=OFF;
    INSERT INTO plants SELECT value * -400, 'Rosa canina', 'hedge' FROM generate_series(1, ${plants});
    PRAGMA synchronous=FULL; PRAGMA wal_checkpoint(TRUNCATE)`);
}

function inserts(pool: pg.Pool, table: string): PlantStorage {
  const insert = `INSERT INTO ${tableOf(table)} (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`;
  return {
    async create({ id, name, tag }) {
      const { rowCount } = await pool.query(insert, [String(id), name, tag]);
      return rowCount === 1 ? 'created' : 'taken';
    },
  };
}

/** Each process has tables of its own: the same contender of another checkout uses the same server. */
const tableOf = (table: string) => `${table}_${process.pid}`;

/** The pool of this process on a server, whose variable in the environment has this name. */
const poolOf = once((variable: string) => new pg.Pool({ connectionString: process.env[variable], max: 10 }));

async function openPostgres(table: string, plants = 0, variable = 'BENCH_POSTGRES'): Promise<pg.Pool> {
  const pool = poolOf(variable);
  await postgresStorage(pool, { table: tableOf(table) }).createTable();
  await pool.query(
    `INSERT INTO ${tableOf(table)} SELECT i * -400, 'Rosa canina', 'hedge' FROM generate_series(1, ${plants}) i`,
  );
  await pool.query('CHECKPOINT');
  return pool;
}

const mysqlPoolOf = once((uri: string) => mysql.createPool({ uri, connectionLimit: 10 }));

async function openMysql(table: string): Promise<mysql.Pool> {
  const pool = mysqlPoolOf(process.env.BENCH_MYSQL!);
  await pool.query(`DROP TABLE IF EXISTS ${tableOf(table)}`);
  await mysqlStorage(pool, { table: tableOf(table) }).createTable();
  return pool;
}

/** Makes one value for each key. */
function once<Value>(make: (key: string) => Value): (key: string) => Value {
  const made = new Map<string, Value>();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key)!;
  };
}
