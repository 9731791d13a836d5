// A custom storage for a SQLite whose driver is asynchronous, or runs elsewhere: one INSERT for each plant.
import type { PlantStorage } from 'plant-store';

// The id is sent as text, because drivers round a number and some reject a bigint. The row tells whether the plant was new: a count of
// changes may include those of triggers. It holds no id, because a driver may be unable to read one beyond 2^53.
const insert =
  'INSERT INTO plants (id, name, tag) VALUES (CAST(? AS INTEGER), ?, ?) ON CONFLICT (id) DO NOTHING RETURNING 1';

type RowsOf = (sql: string, values: (string | null)[]) => readonly unknown[] | Promise<readonly unknown[]>;

/** @param rowsOf runs a statement, and returns its rows once it is committed */
export function insertStorage(rowsOf: RowsOf): PlantStorage {
  return {
    async create({ id, name, tag }) {
      const rows = await rowsOf(insert, [String(id), name, tag ?? null]);
      return rows.length > 0 ? 'created' : 'taken';
    },
  };
}
