import type Database from 'libsql';
import type { SqliteDatabase } from 'plant-store/sqlite';

/** A driver whose statements have `all` and `run`, and what is made of libsql's statement. */
export const driverOf = (
  database: Database.Database,
  make: (statement: Database.Statement, sql: string) => object,
): SqliteDatabase => ({
  exec: (sql) => database.exec(sql),
  prepare(sql) {
    const statement = database.prepare(sql);
    return {
      all: (...values: unknown[]) => statement.all(...values),
      run: (...values: unknown[]) => statement.run(...values),
      ...make(statement, sql),
    };
  },
});

/** A driver that has only what is required. */
export const minimal = (database: Database.Database): SqliteDatabase => driverOf(database, () => ({}));
