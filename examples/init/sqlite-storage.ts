import { isAbsolute } from 'node:path';
import Database from 'libsql';
import { sqliteStorage } from 'plant-store/sqlite';

const { DATABASE = '' } = process.env;
// A relative path is another file in another working directory, and the next build deletes what lies in its folders.
if (!isAbsolute(DATABASE) || /[\\/](\.next|\.output|\.svelte-kit|build|dist)[\\/]/.test(DATABASE))
  throw new Error(
    'DATABASE must be the absolute path of a file outside the folders of a build. Set it, such as DATABASE=/var/lib/plants/plants.db',
  );
const database = new Database(DATABASE);
// FULL syncs at every commit: a plant whose create returned 200 survives a power cut.
database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');

export const storage = sqliteStorage(database);
