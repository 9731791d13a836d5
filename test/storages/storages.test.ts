import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import Database from 'libsql';
import pg from 'pg';
import { groupCommit, type NewPlant, PlantRefused, type PlantStorage } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { type PostgresPool, postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { type OpenedStorage, storageCases } from 'plant-store/testing';
import { afterAll, describe, it } from 'vitest';
import { PostgresServer } from '../support/postgres.js';

/** What closes the databases: each starts when its first case runs. */
const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

let pglite: Promise<PGlite> | undefined;
function onePglite(): Promise<PGlite> {
  if (!pglite) closing.push(async () => (await pglite)?.close());
  pglite ??= PGlite.create();
  return pglite;
}

let pool: Promise<pg.Pool> | undefined;
function onePool(): Promise<pg.Pool> {
  pool ??= PostgresServer.start().then((server) => {
    // The app's own parser for ids: the storage has to work in spite of it.
    const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) };
    const opened = new pg.Pool({ connectionString: server.url, types: types as never });
    closing.push(
      () => opened.end(),
      () => server.close(),
    );
    return opened;
  });
  return pool;
}

const storages: Record<string, () => OpenedStorage<unknown> | Promise<OpenedStorage<unknown>>> = {
  memory() {
    const plants = new Map<bigint, NewPlant>();
    return { storage: memoryStorage(plants), caller: 'anyone', peek: (id) => plants.get(id) };
  },
  'groupCommit over memory'() {
    const plants = new Map<bigint, NewPlant>();
    const { create } = memoryStorage(plants);
    const storage = groupCommit((batch, contexts) =>
      Promise.all(batch.map((plant, i) => create(plant, contexts[i]!))),
    );
    return { storage, caller: 'anyone', peek: (id) => plants.get(id) };
  },
  'memory that refuses long names'() {
    const plants = new Map<bigint, NewPlant>();
    const storage: PlantStorage = {
      async create(plant, context) {
        if (plant.name.length > 200) throw new PlantRefused('name is longer than 200 characters');
        return memoryStorage(plants).create(plant, context);
      },
    };
    return { storage, caller: 'anyone', peek: (id) => plants.get(id) };
  },
  // Batches of one: a create that waits is rejected if its client disconnects.
  'groupCommit, ids by caller, one plant a batch'() {
    const plants = new Map<unknown, Map<bigint, NewPlant>>([
      ['garden', new Map()],
      ['park', new Map()],
    ]);
    const storage = groupCommit(
      (batch, contexts) =>
        Promise.all(
          batch.map((plant, i) => memoryStorage(plants.get(contexts[i]!.caller)).create(plant, contexts[i]!)),
        ),
      { maxBatch: 1, namespace: ({ caller }) => caller },
    );
    const peekAs = (caller: string) => ({ caller, peek: (id: bigint) => plants.get(caller)?.get(id) });
    return { storage, ...peekAs('garden'), other: peekAs('park') };
  },
  async 'SQLite in a file'() {
    const folder = mkdtempSync(join(tmpdir(), 'plants-'));
    const database = new Database(join(folder, 'plants.db'));
    database.exec('PRAGMA journal_mode=WAL');
    const other = new Database(join(folder, 'plants.db'));
    const storage = sqliteStorage(database, { table: 'a "quoted" table; --' });
    await storage.createTable();
    const peek = (id: bigint) => peekSqlite(other, '"a ""quoted"" table; --"', id);
    return {
      storage,
      caller: 'anyone',
      peek,
      close() {
        database.close();
        other.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
  async 'SQLite in memory'() {
    const database = new Database(':memory:');
    const storage = sqliteStorage(database);
    await storage.createTable();
    return {
      storage,
      caller: 'anyone',
      peek: (id) => peekSqlite(database, 'plants', id),
      makeNamesUnique: () => database.exec('CREATE UNIQUE INDEX names ON plants (name)'),
      close: () => void database.close(),
    };
  },
  async 'SQLite on a driver that throws at a large integer, as node:sqlite does'() {
    const database = new Database(':memory:');
    const withoutLarge = <T extends object>(row: T): T => {
      for (const value of Object.values(row)) {
        if (typeof value === 'number' && !Number.isSafeInteger(Math.trunc(value)))
          throw new RangeError(`Value is too large to be represented as a JavaScript number: ${value}`);
      }
      return row;
    };
    const strict = {
      exec: (sql: string) => database.exec(sql),
      prepare(sql: string) {
        const statement = database.prepare(sql);
        return {
          all: (...values: unknown[]) => (statement.all(...values) as object[]).map(withoutLarge),
          // Since Node 26.
          run: (...values: unknown[]) => withoutLarge(statement.run(...values)),
          expandedSQL: sql,
        };
      },
    };
    const storage = sqliteStorage(strict);
    await storage.createTable();
    return {
      storage,
      caller: 'anyone',
      peek: (id) => peekSqlite(database, 'plants', id),
      close: () => void database.close(),
    };
  },
  PGlite: async () => openPostgres(await onePglite()),
  PostgreSQL: async () => openPostgres(await onePool()),
};

function peekSqlite(database: Database.Database, table: string, id: bigint): NewPlant | undefined {
  const select = database.prepare(`SELECT id, name, tag FROM ${table} WHERE id = ?`).safeIntegers(true);
  const row = select.get(id) as { id: bigint; name: string; tag: string | null } | undefined;
  return row && { id: row.id, name: row.name, ...(row.tag !== null && { tag: row.tag }) };
}

async function openPostgres(database: PostgresPool): Promise<OpenedStorage<unknown>> {
  const schema = `garden "${randomUUID()}"`;
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  await database.query(`CREATE SCHEMA ${quoted}`);
  const storage = postgresStorage(database, { table: `${schema}.plants` });
  await storage.createTable();
  return {
    storage,
    caller: 'anyone',
    async peek(id) {
      const select = `SELECT to_json(p)::text AS plant, id::text FROM ${quoted}.plants p WHERE id = ${id}`;
      const [row] = (await database.query(select)).rows;
      if (!row) return undefined;
      const { name, tag } = JSON.parse(row.plant);
      return { id: BigInt(row.id), name, ...(tag !== null && { tag }) };
    },
    makeNamesUnique: () => database.query(`CREATE UNIQUE INDEX ON ${quoted}.plants (name)`),
  };
}

describe.each(Object.entries(storages))('%s', (_, open) => {
  for (const { id, name, run } of storageCases(open)) it(`${id}: ${name}`, run);
});
