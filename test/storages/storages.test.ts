import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import Database from 'libsql';
import pg from 'pg';
import { groupCommit, type NewPlant, PlantRefused, type PlantStorage } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { type PostgresPool, postgresStorage, schemaOf } from 'plant-store/postgres';
import { type SqliteDatabase, sqliteStorage } from 'plant-store/sqlite';
import { type OpenedStorage, storageCases } from 'plant-store/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { openPglite } from '../support/pglite.js';
import { newFile, newFolder } from '../support/run-folder.js';
import { sqliteKinds, sqliteVariants } from '../support/sqlite-handles.js';
import { plantOf, unended } from '../support/tables.js';
import { ownServer } from './postgres-server.js';

// The app's own parser for ids: the storage has to work in spite of it.
const getTypeParser = (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid));
const own = ownServer({}, { types: { getTypeParser } as never });

let pglite: PGlite;
beforeAll(async () => {
  pglite = await openPglite();
});
afterAll(() => pglite.close());

const overMap = (storageOf: (plants: Map<bigint, NewPlant>) => PlantStorage) => () => {
  const plants = new Map<bigint, NewPlant>();
  return { storage: storageOf(plants), caller: 'anyone', peek: (id: bigint) => plants.get(id) };
};

const storages: Record<string, () => OpenedStorage<unknown> | Promise<OpenedStorage<unknown>>> = {
  memory: overMap((plants) => memoryStorage(plants)),
  'groupCommit over memory': overMap((plants) => {
    const { create } = memoryStorage(plants);
    return groupCommit((batch, contexts) =>
      Promise.all(batch.map((plant, i) => create(plant, contexts[i]!))),
    );
  }),
  'memory that refuses long names': overMap((plants) => ({
    async create(plant, context) {
      if (plant.name.length > 200) throw new PlantRefused('name is longer than 200 characters');
      return memoryStorage(plants).create(plant, context);
    },
  })),
  'memory, ids by tenant'() {
    const plants = new Map<bigint | string, NewPlant>();
    const storage = memoryStorage<unknown>(plants, { namespace: { tenant: ({ caller }) => `${caller}` } });
    const keyOf = (caller: string, id: bigint) => JSON.stringify([caller, [`${id}`]]);
    const callerOf = (caller: string) => ({ caller, peek: (id: bigint) => plants.get(keyOf(caller, id)) });
    return { storage, ...callerOf('garden'), other: callerOf('park') };
  },
  async 'SQLite in a file'() {
    const folder = newFolder();
    const [database, other] = [1, 2].map(() => new Database(join(folder, 'plants.db'))) as [Sqlite, Sqlite];
    database.exec('PRAGMA journal_mode=WAL');
    const { close, ...opened } = await openSqlite(database, database, 'a."quoted" table; --', other);
    return {
      ...opened,
      close() {
        close();
        other.close();
      },
    };
  },
  'SQLite in memory': () => openSqlite(new Database(':memory:')),
  ...Object.fromEntries(
    Object.entries({ ...sqliteKinds, ...sqliteVariants }).map(([kind, { open }]) => [
      `SQLite by ${kind}`,
      async () => {
        const { handle, run, rows, close } = open(newFile(), {});
        const storage = sqliteStorage(handle);
        await storage.createTable();
        return {
          storage,
          caller: 'anyone',
          async peek(id: bigint) {
            const select = `SELECT printf('%d', id) AS id, name, tag FROM plants WHERE id = ${id}`;
            return plantOf((await rows(select))[0]);
          },
          makeNamesUnique: () => run('CREATE UNIQUE INDEX names ON plants (name)'),
          close,
        };
      },
    ]),
  ),
  PGlite: () => openPostgres(pglite),
  PostgreSQL: () => openPostgres(own.pool),
  'PostgreSQL, a table in partitions': () => openPostgres(own.pool, 4),
};

type Sqlite = Database.Database;

/** A storage of this database through the driver, whose table another connection reads. */
async function openSqlite(
  database: Sqlite,
  driver: SqliteDatabase = database,
  table = 'plants',
  other = database,
) {
  const storage = sqliteStorage(driver, { table });
  await storage.createTable();
  const quoted = `"${table.replaceAll('"', '""')}"`;
  return {
    storage,
    caller: 'anyone',
    peek(id: bigint): NewPlant | undefined {
      const select = other.prepare(`SELECT * FROM ${quoted} WHERE id = ?`).safeIntegers(true);
      return plantOf(select.get(id) as Record<string, unknown> | undefined);
    },
    makeNamesUnique: () => database.exec(`CREATE UNIQUE INDEX names ON ${quoted} (name)`),
    close: () => void database.close(),
  };
}

async function openPostgres(database: PostgresPool, partitions = 0): Promise<OpenedStorage<unknown>> {
  const schema = `garden "${randomUUID()}"`;
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  await database.query(`CREATE SCHEMA ${quoted}`);
  const table = `${schema}.plants`;
  if (partitions) await database.query(`${unended(schemaOf({ table }))} PARTITION BY HASH (id)`);
  for (let part = 0; part < partitions; part++) {
    const values = `FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${part})`;
    await database.query(`CREATE TABLE ${quoted}.part${part} PARTITION OF ${quoted}.plants ${values}`);
  }
  const storage = postgresStorage(database, { table });
  await storage.createTable();
  const makeNamesUnique = () => database.query(`CREATE UNIQUE INDEX ON ${quoted}.plants (name)`);
  return {
    storage,
    caller: 'anyone',
    async peek(id) {
      const select = `SELECT to_json(p)::text AS plant, id::text FROM ${quoted}.plants p WHERE id = ${id}`;
      const [row] = (await database.query(select)).rows;
      return row && plantOf({ ...JSON.parse(row.plant), id: row.id });
    },
    // Each unique index of partitions must have the id.
    ...(!partitions && { makeNamesUnique }),
  };
}

describe.each(Object.entries(storages))('%s', (_, open) => {
  for (const { id, name, run } of storageCases(open)) it(`${id}: ${name}`, run);
});
