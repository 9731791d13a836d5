/** SQLite on a file and PostgreSQL, over HTTP: in batches, and with an INSERT for each request. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { toNode } from 'plant-store/node';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import type { Contenders } from './child.js';
import { token } from './load.js';

export const databases: Contenders = {
  async sqlite() {
    const storage = sqliteStorage(openSqlite());
    await storage.createTable();
    return serverOf(storage);
  },
  async 'sqlite-single'() {
    const database = openSqlite();
    await sqliteStorage(database).createTable();
    const insert = database.prepare(
      'INSERT INTO plants (id, name, tag) VALUES (CAST(? AS INTEGER), ?, ?) ON CONFLICT (id) DO NOTHING',
    );
    return serverOf({
      async create({ id, name, tag }) {
        return insert.run(String(id), name, tag).changes === 1 ? 'created' : 'taken';
      },
    });
  },
  async postgres() {
    const { pool, table } = await openPostgres();
    return serverOf(postgresStorage(pool, { table }));
  },
  async 'postgres-single'() {
    const { pool, table } = await openPostgres();
    const insert = `INSERT INTO ${table} (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`;
    return serverOf({
      async create({ id, name, tag }) {
        const { rowCount } = await pool.query({
          name: 'create',
          text: insert,
          values: [String(id), name, tag],
        });
        return rowCount === 1 ? 'created' : 'taken';
      },
    });
  },
};

const serverOf = (storage: PlantStorage): Server =>
  createServer(toNode(createPlantStore(storage, acceptTokens(token))));

function openSqlite(): Database.Database {
  const folder = mkdtempSync(join(tmpdir(), 'plants-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true }));
  const database = new Database(join(folder, 'plants.db'));
  database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  return database;
}

/** Each process has a table of its own: both sides use one server. */
async function openPostgres() {
  const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
  const pool = new pg.Pool({ connectionString: process.env.BENCH_POSTGRES, max: 10, ...timeouts });
  const table = `plants_${process.pid}`;
  await postgresStorage(pool, { table }).createTable();
  return { pool, table };
}
