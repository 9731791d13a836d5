// The app's own columns, and each table of `columns.ts`, on its database; MariaDB's run in
// test/programs/cluster/mariadb.cluster.ts.
import { dirname } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { memoryStorage } from 'plant-store/memory';
import { schemaOf, sqliteStorage } from 'plant-store/sqlite';
import postgres from 'postgres';
import { afterAll, beforeAll, describe } from 'vitest';
import { isHeavy } from '../support/heavy.js';
import { openPglite } from '../support/pglite.js';
import { newFile } from '../support/run-folder.js';
import { sqliteKinds } from '../support/sqlite-handles.js';
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

// What is in a column does not depend on the handle: one that blocks, one that is far away, and in the heavy run a third.
const handles = ['libsql', '@libsql/client', ...(isHeavy ? ['libsql/promise'] : [])];

describe.each(handles)('SQLite, by %s', (kind) => {
  const { handle, run, rows, close } = sqliteKinds[kind]!.open(newFile(), {});
  afterAll(close);
  const database = (): TableDatabase => ({
    ...sqliteTables,
    schemaOf,
    run,
    rows,
    storage: (options) => sqliteStorage<unknown>(handle, options as never),
  });
  itStoresOwnColumns(database);
  itStoresExactly(database, sqliteCases, ways);
  itKeepsNamespacesApart(namespaceIn(database));
});

describe('memory', () => {
  itKeepsNamespacesApart(async (namespace) => memoryStorage(new Map(), { namespace }) as never);
});
