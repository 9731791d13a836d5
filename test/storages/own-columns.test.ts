// `namespace` and `columns` on PostgreSQL, PGlite and SQLite.
import { dirname } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import Database from 'libsql';
import pg from 'pg';
import { schemaOf, sqliteStorage } from 'plant-store/sqlite';
import postgres from 'postgres';
import { afterAll, beforeAll, describe } from 'vitest';
import { openPglite } from '../support/pglite.js';
import { driverOf } from '../support/sqlite.js';
import { itStoresOwnColumns } from './own-columns.js';
import { ownPostgres } from './own-columns-databases.js';
import { ownServer } from './postgres-server.js';

let inserts = 0;
const count = (sql: unknown) => {
  if (String(sql).startsWith('INSERT')) inserts++;
};

let tables = 0;

describe('PostgreSQL', () => {
  class CountingClient extends pg.Client {
    override query(...parameters: never[]) {
      count(parameters[0]);
      return super.query(...(parameters as unknown as [never])) as never;
    }
  }
  const own = ownServer({}, { Client: CountingClient as never });
  itStoresOwnColumns(() => ownPostgres(own.pool, () => inserts));

  describe('through postgres.js', () => {
    let sql: postgres.Sql;
    beforeAll(() => {
      sql = postgres({ host: dirname(own.server.socket), username: 'postgres', onnotice: () => {} });
    });
    afterAll(() => sql.end());
    const query = async (text: string, values: never[] = []) => {
      count(text);
      return { rows: await sql.unsafe(text, values) };
    };
    itStoresOwnColumns(() => ownPostgres({ query }, () => inserts));
  });
});

describe('PGlite', () => {
  let pglite: PGlite;
  beforeAll(async () => {
    pglite = await openPglite();
  });
  afterAll(() => pglite.close());
  itStoresOwnColumns(() =>
    ownPostgres(
      {
        query(sql, values) {
          count(sql);
          return pglite.query(sql, values);
        },
      },
      () => inserts,
    ),
  );
});

describe('SQLite', () => {
  const database = new Database(':memory:');
  afterAll(() => database.close());
  const counting = driverOf(database, (statement, sql) => ({
    all(...values: unknown[]) {
      count(sql);
      return statement.all(...values);
    },
  }));
  itStoresOwnColumns(() => ({
    mark: '"',
    alike: ['TEXT COLLATE NOCASE', 'Garden', 'gARDEN'],
    maxName: 300,
    schemaOf,
    newTable: () => `own ${tables++}`,
    run: async (sql) => database.exec(sql),
    rows: async (sql) => database.prepare(sql).all() as Record<string, unknown>[],
    storage: (options) => sqliteStorage(counting, options),
    inserts: () => inserts,
  }));
});
