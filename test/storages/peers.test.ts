// What an app puts on the same table: triggers, rules, partitions, views. What each create is told is true, or the table is refused by name.
import Database from 'libsql';
import { describe } from 'vitest';
import { itTellsTheTruthOnPostgres } from './peers-postgres.js';
import { itTellsTheTruthOnSqlite } from './peers-sqlite.js';
import { ownServer } from './postgres-server.js';

describe('on PostgreSQL', () => itTellsTheTruthOnPostgres(ownServer()));

/** The driver that the runtime has, if it has one: this file runs on each. */
const ofRuntime = await import('Bun' in globalThis ? 'bun:sqlite' : 'node:sqlite').catch(() => undefined);
const drivers = { libsql: Database, 'of the runtime': ofRuntime?.Database ?? ofRuntime?.DatabaseSync };

describe.each(Object.entries(drivers).filter(([, Driver]) => Driver))(
  'on SQLite, by the driver %s',
  (_, Driver) => {
    itTellsTheTruthOnSqlite(() => new Driver(':memory:'));
  },
);
