import { schemaOf as postgresSchema, postgresStorage } from 'plant-store/postgres';
import { schemaOf as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { describe } from 'vitest';
import { newFile } from '../support/run-folder.js';
import { sqliteKinds } from '../support/sqlite-handles.js';
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

describe.each(Object.entries(sqliteKinds))('sqliteStorage of %s', (_, { open }) => {
  const { handle, run } = open(newFile(), {});
  itSaysWhatToDo({
    schemaOf: sqliteSchema,
    open: (options) => sqliteStorage(handle, options),
    run,
  });
});
