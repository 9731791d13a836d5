// What an app puts on the same table: triggers, rules, partitions, views. What each create is told is true, or the table is refused by name.
import Database from 'libsql';
import { sqliteStorage } from 'plant-store/sqlite';
import { describe } from 'vitest';
import { newFile } from '../support/run-folder.js';
import { sqliteKinds } from '../support/sqlite-handles.js';
import { itTellsTheTruthOnPostgres } from './peers-postgres.js';
import { itTellsTheTruthOnSqlite, peersDatabase } from './peers-sqlite.js';
import { ownServer } from './postgres-server.js';

describe('on PostgreSQL', () => itTellsTheTruthOnPostgres(ownServer()));

/** The driver that the runtime has, if it has one: this file runs on each. */
const ofRuntime = await import('Bun' in globalThis ? 'bun:sqlite' : 'node:sqlite').catch(() => undefined);
const drivers = { libsql: Database, 'of the runtime': ofRuntime?.Database ?? ofRuntime?.DatabaseSync };

describe.each(Object.entries(drivers).filter(([, Driver]) => Driver))(
  'on SQLite, by the driver %s',
  (_, Driver) => {
    itTellsTheTruthOnSqlite(() => peersDatabase(new Driver(':memory:')));
  },
);

describe.each(Object.entries(sqliteKinds))('on SQLite, by %s', (_, { open, sharesConnection }) => {
  const connect = () => {
    const { handle, ...database } = open(newFile(), {});
    return { ...database, storage: sqliteStorage(handle, { timeoutMs: 2_000 }) };
  };
  // TEMP triggers and further files are of a connection.
  itTellsTheTruthOnSqlite(connect, (sql) => sharesConnection || !/TEMP|ATTACH/.test(sql));
});
