import type { PGlite } from '@electric-sql/pglite';
import { schemaOf, sqliteStorage } from 'plant-store/sqlite';
import { afterAll, beforeAll, describe } from 'vitest';
import { openPglite } from '../support/pglite.js';
import { newFile } from '../support/run-folder.js';
import { sqliteKinds } from '../support/sqlite-handles.js';
import type { TableDatabase } from './columns.js';
import { itTakesOtherNames } from './names.js';
import { onPostgres } from './on-postgres.js';
import { ownServer } from './postgres-server.js';

describe('PostgreSQL', () => {
  const own = ownServer();
  itTakesOtherNames(() => onPostgres(own.pool));
});

describe('PGlite', () => {
  let pglite: PGlite;
  beforeAll(async () => {
    pglite = await openPglite();
  });
  afterAll(() => pglite.close());
  itTakesOtherNames(() => onPostgres(pglite));
});

let tables = 0;
const sqliteTables: Pick<TableDatabase, 'mark' | 'alike' | 'maxName' | 'asText' | 'newTable'> = {
  mark: '"',
  alike: ['TEXT COLLATE NOCASE', 'Garden', 'gARDEN'],
  maxName: 300,
  asText: (column) => `CAST(${column} AS TEXT)`,
  newTable: () => `names ${tables++}`,
};

describe.each(Object.entries(sqliteKinds))('SQLite, by %s', (_, { open }) => {
  const { handle, run, rows, close } = open(newFile(), {});
  afterAll(close);
  itTakesOtherNames(() => ({
    ...sqliteTables,
    schemaOf,
    run,
    rows,
    storage: (options) => sqliteStorage<unknown>(handle, options as never),
  }));
});
