import Database from 'libsql';
import { schemaOf as postgresSchema, postgresStorage } from 'plant-store/postgres';
import { schemaOf as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { schemaOf as asyncSchema, sqliteAsyncStorage } from 'plant-store/sqlite-async';
import { describe } from 'vitest';
import { asyncKinds } from '../support/async-sqlite.js';
import { newFile } from '../support/run-folder.js';
import { ownServer } from './postgres-server.js';
import { itSaysWhatToDo } from './setup.js';

describe('postgresStorage', () => {
  const own = ownServer();
  itSaysWhatToDo({
    schemaOf: postgresSchema,
    open: (options) => postgresStorage(own.pool, options),
    run: (sql) => own.pool.query(sql),
  });
});

describe('sqliteStorage', () => {
  const database = new Database(':memory:');
  itSaysWhatToDo({
    schemaOf: sqliteSchema,
    open: (options) => sqliteStorage(database, options),
    run: (sql) => database.exec(sql),
  });
});

describe.each(Object.entries(asyncKinds))('sqliteAsyncStorage of %s', (_, { open }) => {
  const { handle, run } = open(newFile(), {});
  itSaysWhatToDo({
    schemaOf: asyncSchema,
    open: (options) => sqliteAsyncStorage(handle, options),
    run,
  });
});
