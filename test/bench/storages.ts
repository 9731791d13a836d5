/**
 * What storages cost, at 64 concurrent creates, interleaved, medians: `npx tsx test/bench/storages.ts [words]`; words
 * pick the tables: sqlite, postgres, lone, size.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import {
  acceptTokens,
  createPlantStore,
  type NewPlant,
  type PlantStorage,
  type StorageContext,
} from 'plant-store';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { PostgresServer } from '../support/postgres.js';

const words = process.argv.slice(2);
const creators = 64;
const rounds = 9;
const sampleMs = 400;

/** Makes plants for so many milliseconds, and returns how many. */
type Contender = (ms: number) => Promise<number>;

let nextId = 1;
const context: StorageContext<unknown> = {
  request: { method: 'POST', url: '/plants', headers: {} },
  caller: 'anyone',
  signal: new AbortController().signal,
};

const newPlant = (): NewPlant => ({ id: BigInt(nextId++), name: 'Rosa canina', tag: 'shrub' });

/** 64 clients of `handle`, each sending its next create when it has its answer. */
function throughHandle(storage: PlantStorage): Contender {
  const handle = createPlantStore(storage, acceptTokens('secret'));
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  return async (ms) => {
    const end = performance.now() + ms;
    let created = 0;
    const client = async () => {
      while (performance.now() < end) {
        const body = `{"id":${nextId++},"name":"Rosa canina","tag":"shrub"}`;
        const { status } = await handle({ method: 'POST', url: '/plants', headers, body });
        if (status !== 200) throw new Error(`answered ${status}`);
        created++;
      }
    };
    await Promise.all(Array.from({ length: creators }, client));
    return created;
  };
}

/** A loop around a function that makes so many plants. */
function bare(plants: number, make: (plants: NewPlant[]) => unknown): Contender {
  return async (ms) => {
    const end = performance.now() + ms;
    let created = 0;
    for (; performance.now() < end; created += plants) await make(Array.from({ length: plants }, newPlant));
    return created;
  };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}

/** Plants a second of each contender, by turns; ratios are of the first to each other, pair by pair. */
async function compare(title: string, contenders: Record<string, Contender>): Promise<void> {
  const rates: Record<string, number[]> = {};
  for (const run of Object.values(contenders)) await run(sampleMs);
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(contenders)) {
      const start = performance.now();
      const created = await run(sampleMs);
      rates[name] ??= [];
      rates[name].push((created / (performance.now() - start)) * 1000);
    }
  }
  const [ours] = Object.values(rates);
  console.log(`\n${title}`);
  for (const [name, of] of Object.entries(rates)) {
    const ratio = median(ours!.map((rate, i) => rate / of[i]!));
    console.log(
      `  ${name.padEnd(52)} ${median([...of])
        .toFixed(0)
        .padStart(7)}/s   ours is ${ratio.toFixed(2)} times this`,
    );
  }
}

function openSqlite(folder: string, name: string): Database.Database {
  const database = new Database(join(folder, name));
  database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  return database;
}

async function sqlite(folder: string): Promise<void> {
  const database = openSqlite(folder, 'ours.db');
  const storage = sqliteStorage(database);
  await storage.createTable();
  const insert = database.prepare(
    'INSERT INTO plants VALUES (CAST(? AS INTEGER), ?, ?) ON CONFLICT DO NOTHING',
  );
  const insertAll = (plants: NewPlant[]) => {
    for (const { id, name, tag } of plants) insert.run(String(id), name, tag);
  };
  const inTransaction = (plants: NewPlant[]) => {
    database.exec('BEGIN IMMEDIATE');
    insertAll(plants);
    database.exec('COMMIT');
  };
  const single: PlantStorage = {
    async create(plant) {
      inTransaction([plant]);
      return 'created';
    },
  };
  await compare('SQLite, WAL, synchronous=FULL', {
    'sqliteStorage through handle': throughHandle(storage),
    'a transaction a plant through handle': throughHandle(single),
    'a bare loop of a transaction a plant': bare(1, inTransaction),
    'a bare loop of transactions of 64 plants': bare(64, inTransaction),
  });
  database.close();
}

async function postgres(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url });
  const storage = postgresStorage(pool);
  await storage.createTable();
  const single: PlantStorage = {
    async create({ id, name, tag }) {
      const insert = 'INSERT INTO plants VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';
      return (await pool.query(insert, [String(id), name, tag])).rowCount === 1 ? 'created' : 'taken';
    },
  };
  const unnest = (plants: NewPlant[]) =>
    pool.query(
      'INSERT INTO plants SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING RETURNING id::text',
      [plants.map(({ id }) => String(id)), plants.map(({ name }) => name), plants.map(({ tag }) => tag)],
    );
  await compare('PostgreSQL, fsync and synchronous_commit on, a pool of 10', {
    'postgresStorage through handle': throughHandle(storage),
    'an INSERT a request through handle': throughHandle(single),
    'a bare loop of unnest of 64 plants': bare(64, unnest),
  });
  await pool.end();
}

/** The p50 of a create alone, with and without the group commit around its statement. */
async function lone(folder: string, url: string): Promise<void> {
  console.log('\nA create alone, p50 in µs: through groupCommit, its statement alone, the difference');
  const memory = new Database(':memory:');
  const file = openSqlite(folder, 'lone.db');
  const pool = new pg.Pool({ connectionString: url });
  for (const [name, storage, alone] of [
    ['SQLite in memory', sqliteStorage(memory), sqliteAlone(memory)],
    ['SQLite in a file, FULL', sqliteStorage(file), sqliteAlone(file)],
    ['PostgreSQL', postgresStorage(pool), postgresAlone(pool)],
  ] as const) {
    await storage.createTable();
    const times: number[][] = [[], []];
    for (let i = 0; i < 4000; i++) {
      const ways = [(plant: NewPlant) => storage.create(plant, context), alone];
      // By turns who is first: the other finds the disk busier.
      for (const which of i % 2 ? [0, 1] : [1, 0]) {
        const create = ways[which]!;
        const plant = newPlant();
        const start = performance.now();
        await create(plant);
        if (i >= 500) times[which]!.push((performance.now() - start) * 1000);
      }
    }
    const [through, without] = times.map(median) as [number, number];
    const allowed = 10 + without * 0.05;
    console.log(
      `  ${name.padEnd(24)} ${through.toFixed(1).padStart(8)} ${without.toFixed(1).padStart(8)} ${(through - without).toFixed(1).padStart(6)} (allowed ${allowed.toFixed(1)})`,
    );
  }
  await pool.end();
}

function sqliteAlone(database: Database.Database): (plant: NewPlant) => unknown {
  let insert: Database.Statement | undefined;
  return ({ id, name, tag }) => {
    insert ??= database.prepare(
      "INSERT INTO plants (id, name, tag) SELECT CAST(json_extract(value, '$[0]') AS INTEGER), json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?) WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS id",
    );
    database.exec('BEGIN IMMEDIATE');
    insert.all(JSON.stringify([[String(id), name, tag]]));
    database.exec('COMMIT');
  };
}

function postgresAlone(pool: pg.Pool): (plant: NewPlant) => unknown {
  const insert =
    'INSERT INTO plants (id, name, tag) SELECT id, name, tag FROM unnest($1::bigint[], $2::text[], $3::text[]) AS new (id, name, tag) ORDER BY id ON CONFLICT (id) DO NOTHING RETURNING id::text AS id';
  return ({ id, name, tag }) => pool.query(insert, [[String(id)], [name], [tag]]);
}

/** Spreads sequential numbers over all of int64, each once. */
const spread = 7046029254386353131n;

/** The cost of a plant, in batches of 64, when so many are stored already. */
async function size(folder: string, url: string): Promise<void> {
  console.log('\nµs a plant, 64 concurrent creates, with so many plants stored, by ids');
  const pool = new pg.Pool({ connectionString: url });
  for (const ids of ['sequential', 'random'] as const) {
    const idOf = (i: number) => (ids === 'sequential' ? BigInt(i) : BigInt.asIntN(64, BigInt(i) * spread));
    const database = openSqlite(folder, `${ids}.db`);
    const lite = sqliteStorage(database);
    const postgres = postgresStorage(pool, { table: ids });
    await Promise.all([lite.createTable(), postgres.createTable()]);
    let stored = 0;
    for (const target of [10_000, 1_000_000, 5_000_000]) {
      const all = Array.from({ length: target - stored }, (_, i) => idOf(stored + i));
      for (let i = 0; i < all.length; i += 50_000) {
        const some = all.slice(i, i + 50_000).map(String);
        database.exec('PRAGMA synchronous=OFF');
        database
          .prepare(
            "INSERT INTO plants SELECT CAST(value AS INTEGER), 'Rosa canina', 'shrub' FROM json_each(?)",
          )
          .run(JSON.stringify(some));
        await pool.query(`INSERT INTO ${ids} SELECT i, 'Rosa canina', 'shrub' FROM unnest($1::bigint[]) i`, [
          some,
        ]);
      }
      stored = target;
      database.exec('PRAGMA synchronous=FULL; PRAGMA wal_checkpoint(TRUNCATE)');
      await pool.query('CHECKPOINT');
      const costs: Record<string, number[]> = { SQLite: [], PostgreSQL: [] };
      for (let round = 0; round < 100; round++) {
        const plants = Array.from({ length: 64 }, (_, i) => ({ ...newPlant(), id: idOf(stored + i) }));
        stored += 64;
        for (const [name, storage] of Object.entries({ SQLite: lite, PostgreSQL: postgres })) {
          const start = performance.now();
          const outcomes = await Promise.all(plants.map((plant) => storage.create(plant, context)));
          costs[name]!.push(((performance.now() - start) * 1000) / 64);
          if (outcomes.includes('taken')) throw new Error('an id came twice');
        }
      }
      for (const [name, of] of Object.entries(costs)) {
        console.log(
          `  ${ids.padEnd(10)} ${String(target).padStart(8)} ${name.padEnd(10)} ${median(of).toFixed(1).padStart(7)}`,
        );
      }
    }
    database.close();
  }
  await pool.end();
}

const folder = mkdtempSync(join(tmpdir(), 'plants-bench-'));
const server = await PostgresServer.start();
const tables = {
  sqlite: () => sqlite(folder),
  postgres: () => postgres(server.url),
  lone: () => lone(folder, server.url),
  size: () => size(folder, server.url),
};
try {
  for (const [name, measure] of Object.entries(tables)) {
    if (words.length === 0 || words.includes(name)) await measure();
  }
} finally {
  await server.close();
  rmSync(folder, { recursive: true });
}
