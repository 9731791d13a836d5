import { isAbsolute } from 'node:path';
import Database from 'libsql';
import type { PlantStorage } from 'plant-store';
import { StorageBusy } from 'plant-store';
import { sqliteStorage } from 'plant-store/sqlite';

function open() {
  const { DATABASE = '' } = process.env;
  // The server may run in a folder of its own, and the next build deletes what lies in its folders.
  if (!isAbsolute(DATABASE) || /[\\/](\.next|\.output|\.svelte-kit|build|dist)[\\/]/.test(DATABASE))
    throw new StorageBusy(
      'DATABASE must be the absolute path of a file outside the folders of a build. Set it, such as DATABASE=/var/lib/plants/plants.db',
    );
  const database = new Database(DATABASE);
  // FULL syncs at every commit: a plant whose create returned 200 survives a power cut.
  database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  return sqliteStorage(database);
}

// The build loads this file, too: so the first request opens the database.
let opened: ReturnType<typeof open> | undefined;
const sqlite = () => {
  opened ??= open();
  return opened;
};
export const storage: PlantStorage = {
  create: async (plant, context) => sqlite().create(plant, context),
  find: async (id, context) => sqlite().find(id, context),
};
