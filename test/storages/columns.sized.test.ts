// The app's own columns, and each table of `columns.ts`, on its database; MariaDB's run in
// test/programs/cluster/mariadb.cluster.ts.
import { dirname } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import Database from 'libsql';
import { memoryStorage } from 'plant-store/memory';
import { schemaOf, sqliteStorage } from 'plant-store/sqlite';
import { schemaOf as asyncSchema, sqliteAsyncStorage } from 'plant-store/sqlite-async';
import postgres from 'postgres';
import { afterAll, beforeAll, describe } from 'vitest';
import { asyncKinds } from '../support/async-sqlite.js';
import { isHeavy } from '../support/heavy.js';
import { openPglite } from '../support/pglite.js';
import { newFile } from '../support/run-folder.js';
import { minimal } from '../support/sqlite.js';
import {
  itKeepsNamespacesApart,
  itStoresExactly,
  namespaceIn,
  postgresCases,
  postgresTypes,
  sqliteCases,
  type TableDatabase,
} from './columns.js';
import { onPostgres } from './on-postgres.js';
import { itStoresOwnColumns } from './own-columns.js';
import { ownServer } from './postgres-server.js';

/** In a batch; in the heavy run also one by one. */
const ways = isHeavy ? [true, false] : [true];

describe('PostgreSQL', () => {
  const own = ownServer({}, { options: '-c timezone=UTC' });
  beforeAll(() => own.pool.query(postgresTypes));
  const database = () => onPostgres(own.pool);
  itStoresOwnColumns(database);
  itStoresExactly(database, postgresCases, ways);
  itKeepsNamespacesApart(namespaceIn(database));

  describe('through postgres.js', () => {
    let sql: postgres.Sql;
    beforeAll(() => {
      sql = postgres({ host: dirname(own.server.socket), username: 'postgres', onnotice: () => {} });
    });
    afterAll(() => sql.end());
    const query = async (text: string, values: never[] = []) => ({ rows: await sql.unsafe(text, values) });
    itStoresOwnColumns(() => onPostgres({ query }));
  });
});

describe('PGlite', () => {
  let pglite: PGlite;
  beforeAll(async () => {
    pglite = await openPglite();
    await pglite.exec(`SET timezone = 'UTC'; ${postgresTypes}`);
  });
  afterAll(() => pglite.close());
  const database = () => onPostgres(pglite);
  itStoresOwnColumns(database);
  // It is PostgreSQL, three times as slow.
  if (isHeavy) {
    itStoresExactly(database, postgresCases);
    itKeepsNamespacesApart(namespaceIn(database));
  }
});

let tables = 0;
const sqliteTables: Pick<TableDatabase, 'mark' | 'alike' | 'maxName' | 'asText' | 'newTable'> = {
  mark: '"',
  alike: ['TEXT COLLATE NOCASE', 'Garden', 'gARDEN'],
  maxName: 300,
  asText: (column) => `CAST(${column} AS TEXT)`,
  newTable: () => `columns ${tables++}`,
};

describe('SQLite', () => {
  const connection = new Database(':memory:');
  afterAll(() => connection.close());
  const database = (): TableDatabase => ({
    ...sqliteTables,
    schemaOf,
    run: async (sql) => connection.exec(sql),
    rows: async (sql) => connection.prepare(sql).all() as Record<string, unknown>[],
    storage: (options) => sqliteStorage<unknown>(minimal(connection), options as never),
  });
  itStoresOwnColumns(database);
  itStoresExactly(database, sqliteCases, ways);
  itKeepsNamespacesApart(namespaceIn(database));
});

// One that is far away, and in the heavy run one that is not: what is in a column does not depend on the handle.
describe.each(isHeavy ? ['@libsql/client', 'libsql/promise'] : ['@libsql/client'])(
  'SQLite, by %s',
  (kind) => {
    const { handle, run, rows, close } = asyncKinds[kind]!.open(newFile(), {});
    afterAll(close);
    const database = (): TableDatabase => ({
      ...sqliteTables,
      schemaOf: asyncSchema,
      run,
      rows,
      storage: (options) => sqliteAsyncStorage<unknown>(handle, options as never),
    });
    itStoresOwnColumns(database);
    itStoresExactly(database, sqliteCases, ways);
    itKeepsNamespacesApart(namespaceIn(database));
  },
);

describe('memory', () => {
  itKeepsNamespacesApart(async (namespace) => memoryStorage(new Map(), { namespace }) as never);
});
