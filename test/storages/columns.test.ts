// Each table of `columns.ts` on its database; MariaDB's runs in test/programs/cluster/mariadb.cluster.ts.
import type { PGlite } from '@electric-sql/pglite';
import Database from 'libsql';
import { memoryStorage } from 'plant-store/memory';
import { type PostgresPool, schemaOf as postgresSchema, postgresStorage } from 'plant-store/postgres';
import { schemaOf as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { afterAll, beforeAll, describe } from 'vitest';
import { openPglite } from '../support/pglite.js';
import { minimal } from '../support/sqlite.js';
import {
  type ColumnDatabase,
  itKeepsNamespacesApart,
  itStoresExactly,
  type Namespace,
  postgresCases,
  postgresTypes,
  sqliteCases,
} from './columns.js';
import { ownServer } from './postgres-server.js';

let tables = 0;
const newTable = () => `columns ${tables++}`;

const onPostgres = (database: PostgresPool): ColumnDatabase => ({
  mark: '"',
  schemaOf: postgresSchema,
  asText: (column) => `${column}::text`,
  newTable,
  run: (sql) => database.query(sql),
  rows: async (sql) => (await database.query(sql)).rows,
  storage: (options) => postgresStorage(database, options),
});

const apartOnPostgres = async (database: PostgresPool, namespace: Namespace) => {
  const options = { table: newTable(), namespace };
  await database.query(postgresSchema(options));
  return postgresStorage(database, options);
};

describe('PostgreSQL', () => {
  const own = ownServer({}, { options: '-c timezone=UTC' });
  beforeAll(() => own.pool.query(postgresTypes));
  itStoresExactly(() => onPostgres(own.pool), postgresCases);
  itKeepsNamespacesApart((namespace) => apartOnPostgres(own.pool, namespace));
});

describe('PGlite', () => {
  let pglite: PGlite;
  beforeAll(async () => {
    pglite = await openPglite();
    await pglite.exec(`SET timezone = 'UTC'; ${postgresTypes}`);
  });
  afterAll(() => pglite.close());
  itStoresExactly(() => onPostgres(pglite), postgresCases);
  itKeepsNamespacesApart((namespace) => apartOnPostgres(pglite, namespace));
});

describe('SQLite', () => {
  const database = new Database(':memory:');
  afterAll(() => database.close());
  itStoresExactly(
    () => ({
      mark: '"',
      schemaOf: sqliteSchema,
      asText: (column) => `CAST(${column} AS TEXT)`,
      newTable,
      run: async (sql) => database.exec(sql),
      rows: async (sql) => database.prepare(sql).all() as Record<string, unknown>[],
      storage: (options) => sqliteStorage(minimal(database), options),
    }),
    sqliteCases,
  );
  itKeepsNamespacesApart(async (namespace) => {
    const options = { table: newTable(), namespace };
    database.exec(sqliteSchema(options));
    return sqliteStorage(minimal(database), options);
  });
});

describe('memory', () => {
  itKeepsNamespacesApart(async (namespace) => memoryStorage(new Map(), { namespace }) as never);
});
