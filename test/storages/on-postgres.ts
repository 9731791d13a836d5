import type { PostgresPool } from 'plant-store/postgres';
import { postgresStorage, schemaOf } from 'plant-store/postgres';
import type { TableDatabase } from './columns.js';

let tables = 0;

/** A PostgreSQL for `itStoresOwnColumns` and `itStoresExactly`, through this pool or bridge. */
export const onPostgres = (database: PostgresPool): TableDatabase => ({
  mark: '"',
  alike: ['uuid', '6F9619FF-8B86-D011-B42D-00C04FC964FF', '6f9619ff-8b86-d011-b42d-00c04fc964ff'],
  maxName: 63,
  schemaOf,
  asText: (column) => `${column}::text`,
  newTable: () => `columns ${tables++}`,
  run: (sql) => database.query(sql),
  rows: async (sql) => (await database.query(sql)).rows,
  storage: (options) => postgresStorage<unknown>(database, options as never),
});
