import type { SqliteDatabase } from 'plant-store/sqlite';

/** The two ways to insert: by the driver's count of the rows, or by RETURNING where a driver counts none, or others too. */
export const drivers: readonly (readonly [string, (database: SqliteDatabase) => SqliteDatabase])[] = [
  ['a driver that counts the rows of a statement', (database) => database],
  [
    'an object that has what is required, and counts no rows',
    (database) => ({
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql);
        return { all: (...values) => statement.all(...values) };
      },
    }),
  ],
];
