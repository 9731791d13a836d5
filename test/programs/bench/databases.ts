/** SQLite on a file and PostgreSQL: 64 creates at a time, each with the token, the JSON and the response. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import type { Contenders, Work } from './contender.js';
import { path, plantJson, token } from './load.js';

const creators = 64;

export const databases: Contenders = {
  async sqlite() {
    const storage = sqliteStorage(openSqlite());
    await storage.createTable();
    return throughHandle(storage);
  },
  async 'sqlite-single'() {
    const database = openSqlite();
    await sqliteStorage(database).createTable();
    const insert = database.prepare(
      'INSERT INTO plants (id, name, tag) VALUES (CAST(? AS INTEGER), ?, ?) ON CONFLICT (id) DO NOTHING',
    );
    return throughHandle({
      async create({ id, name, tag }) {
        return insert.run(String(id), name, tag).changes === 1 ? 'created' : 'taken';
      },
    });
  },
  async postgres() {
    const { pool, table } = await openPostgres();
    return throughHandle(postgresStorage(pool, { table }));
  },
  async 'postgres-single'() {
    const { pool, table } = await openPostgres();
    const insert = `INSERT INTO ${table} (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`;
    return throughHandle({
      async create({ id, name, tag }) {
        const { rowCount } = await pool.query(insert, [String(id), name, tag]);
        return rowCount === 1 ? 'created' : 'taken';
      },
    });
  },
};

/** 64 creators, each of which creates its next plant when the last one is created. */
function throughHandle(storage: PlantStorage): Work {
  const handle = createPlantStore(storage, acceptTokens(token));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const operations = creators * 8;
  let bodies: string[] = [];
  const creator = async (_: unknown, first: number) => {
    for (let i = first; i < operations; i += creators) {
      const { status, body } = await handle({ method: 'POST', url: path, headers, body: bodies[i]! });
      if (status !== 200) throw new Error(body);
    }
  };
  return {
    operations,
    prepare() {
      // Flat, as a decoded body is: V8 would keep the string of a template as a tree, and flatten it in the measured time.
      bodies = Array.from({ length: operations }, () => Buffer.from(plantJson()).toString());
    },
    async run() {
      await Promise.all(Array.from({ length: creators }, creator));
    },
  };
}

function openSqlite(): Database.Database {
  const folder = mkdtempSync(join(tmpdir(), 'plants-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true }));
  const database = new Database(join(folder, 'plants.db'));
  database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  return database;
}

/** Each process has a table of its own: both sides use one server. */
async function openPostgres() {
  const pool = new pg.Pool({ connectionString: process.env.BENCH_POSTGRES, max: 10 });
  const table = `plants_${process.pid}`;
  await postgresStorage(pool, { table }).createTable();
  return { pool, table };
}
