import Database from 'libsql';
import { sqliteStorage } from 'plant-store/sqlite';

const { DATABASE = 'plants.db' } = process.env;
const database = new Database(DATABASE);
// FULL syncs at every commit: a plant whose create returned 200 survives a power cut.
database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');

export const storage = sqliteStorage(database);
