// `namespace` and `columns` on PostgreSQL, PGlite and SQLite.
import { PGlite } from '@electric-sql/pglite';
import Database from 'libsql';
import pg from 'pg';
import { type PostgresPool, schemaOf as postgresSchema, postgresStorage } from 'plant-store/postgres';
import { schemaOf as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { afterAll, beforeAll, describe } from 'vitest';
import { PostgresServer } from '../support/postgres.js';
import { itStoresOwnColumns, type OwnDatabase } from './own-columns.js';

let inserts = 0;
const count = (sql: unknown) => {
  if (String(sql).startsWith('INSERT')) inserts++;
};

let tables = 0;

function postgres(database: PostgresPool): OwnDatabase {
  return {
    mark: '"',
    types: { text: 'text', bigint: 'bigint', double: 'double precision', alike: 'uuid' },
    alike: ['6F9619FF-8B86-D011-B42D-00C04FC964FF', '6f9619ff-8b86-d011-b42d-00c04fc964ff'],
    maxName: 63,
    schemaOf: postgresSchema,
    newTable: () => `own ${tables++}`,
    run: (sql) => database.query(sql),
    rows: async (sql) => (await database.query(sql)).rows,
    storage: (options) => postgresStorage(database, options),
    inserts: () => inserts,
  };
}

describe('PostgreSQL', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await PostgresServer.start();
    class CountingClient extends pg.Client {
      override query(...parameters: never[]) {
        count(parameters[0]);
        return super.query(...(parameters as unknown as [never])) as never;
      }
    }
    pool = new pg.Pool({ connectionString: server.url, Client: CountingClient as never });
  });
  afterAll(async () => {
    await pool.end();
    await server.close();
  });
  itStoresOwnColumns(() => postgres(pool));
});

describe('PGlite', () => {
  let pglite: PGlite;
  beforeAll(async () => {
    pglite = await PGlite.create();
  });
  afterAll(() => pglite.close());
  itStoresOwnColumns(() =>
    postgres({
      query(sql, values) {
        count(sql);
        return pglite.query(sql, values);
      },
    }),
  );
});

describe('SQLite', () => {
  const database = new Database(':memory:');
  afterAll(() => database.close());
  const counting = {
    exec: (sql: string) => database.exec(sql),
    prepare(sql: string) {
      const statement = database.prepare(sql);
      return {
        all(...values: unknown[]) {
          count(sql);
          return statement.all(...values);
        },
      };
    },
  };
  itStoresOwnColumns(() => ({
    mark: '"',
    types: { text: 'TEXT', bigint: 'INTEGER', double: 'REAL', alike: 'TEXT COLLATE NOCASE' },
    alike: ['Garden', 'gARDEN'],
    maxName: 300,
    schemaOf: sqliteSchema,
    newTable: () => `own ${tables++}`,
    run: async (sql) => database.exec(sql),
    rows: async (sql) => database.prepare(sql).all() as Record<string, unknown>[],
    storage: (options) => sqliteStorage(counting, options),
    inserts: () => inserts,
  }));
});
