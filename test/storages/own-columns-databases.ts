import type { PostgresPool } from 'plant-store/postgres';
import { postgresStorage, schemaOf } from 'plant-store/postgres';
import type { OwnDatabase } from './own-columns.js';

let tables = 0;

/** A PostgreSQL for `itStoresOwnColumns`, through this pool or bridge. */
export function ownPostgres(
  database: PostgresPool,
  inserts: () => number,
  options: Partial<OwnDatabase> = {},
): OwnDatabase {
  return {
    mark: '"',
    alike: ['uuid', '6F9619FF-8B86-D011-B42D-00C04FC964FF', '6f9619ff-8b86-d011-b42d-00c04fc964ff'],
    maxName: 63,
    schemaOf,
    newTable: () => `own ${tables++}`,
    run: (sql) => database.query(sql),
    rows: async (sql) => (await database.query(sql)).rows,
    storage: (storage) => postgresStorage(database, storage),
    inserts,
    ...options,
  };
}
