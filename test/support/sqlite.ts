import type Database from 'libsql';
import type { SqliteDatabase } from 'plant-store/sqlite';

/** A driver whose statements have `all`, and what is made of libsql's statement. */
export const driverOf = (
  database: Database.Database,
  make: (statement: Database.Statement, sql: string) => object,
): SqliteDatabase => ({
  exec: (sql) => database.exec(sql),
  prepare(sql) {
    const statement = database.prepare(sql);
    return { all: (...values: unknown[]) => statement.all(...values), ...make(statement, sql) };
  },
});

/** The two ways to insert: by the driver's count of the rows, or by RETURNING where a driver counts none, or others too. */
export const drivers: readonly (readonly [string, (database: SqliteDatabase) => SqliteDatabase])[] = [
  ['a driver that counts the rows of a statement', (database) => database],
  [
    'an object that has what is required, and counts no rows',
    (database) => driverOf(database as Database.Database, () => ({})),
  ],
];
