// A custom storage for MySQL and MariaDB through a library whose pool `mysqlStorage` cannot use: one INSERT for each plant.
import type { PlantStorage } from 'plant-store';

const insert = 'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)';

// Of the primary key alone: a duplicate in another unique index is no taken id. At its end, because a plant's name may read like this.
const takenId = /^Duplicate entry .* for key '(\w+\.)?PRIMARY'$/s;

interface LibraryError {
  /** Of MariaDB's connector. */
  readonly sqlMessage?: string | null;
  /** Of Prisma. */
  readonly meta?: {
    readonly driverAdapterError?: { readonly cause?: { readonly originalMessage?: string } };
  };
}

/** @param run runs a statement by itself, and resolves once it is committed */
export function insertStorage(
  run: (sql: string, values: (string | null)[]) => PromiseLike<unknown>,
): PlantStorage {
  return {
    async create({ id, name, tag }) {
      try {
        await run(insert, [String(id), name, tag ?? null]);
        return 'created';
      } catch (error) {
        // What the server said. In `message` a library may add the statement and its values.
        const { sqlMessage, meta } = error as LibraryError;
        const said = sqlMessage ?? meta?.driverAdapterError?.cause?.originalMessage;
        if (takenId.test(String(said))) return 'taken';
        throw error;
      }
    },
  };
}
