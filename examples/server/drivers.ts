// The drivers of databases, none of which is a dependency: the demo server uses what it finds.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SqliteDatabase as Database } from 'plant-store/sqlite';

/** The part of a SQLite driver that is used here. */
export type SqliteDatabase = Database & { close(): void };

/** Finds `node:sqlite` where Node has it, otherwise an installed driver. */
export function sqliteDriver(): (new (file: string) => SqliteDatabase) | undefined {
  const { emitWarning } = process;
  // Some versions of Node print that their SQLite is experimental.
  process.emitWarning = () => {};
  const builtin = process.getBuiltinModule?.('node:sqlite') as
    | { DatabaseSync: new (file: string) => SqliteDatabase }
    | undefined;
  process.emitWarning = emitWarning;
  return builtin?.DatabaseSync ?? installed('libsql') ?? installed('better-sqlite3');
}

/** Loads a driver that the current directory, or plant-store itself, has installed. */
export function installed<T>(name: string): T | undefined {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      return createRequire(from)(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  return undefined;
}
