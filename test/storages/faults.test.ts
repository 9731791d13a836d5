// The built-in storages through the faults that recipes run, too.
import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { storageCases } from 'plant-store/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Doorway } from '../support/doorway.js';
import { newFolder } from '../support/run-folder.js';
import { faultyPostgres, faultySqlite, sqliteFaultsAtCommit } from './fault-databases.js';
import { type FaultyDatabase, itSurvivesFaults, openFaulty } from './faults.js';
import { ownServer } from './postgres-server.js';

/** Declares the faults, and the published cases that need some. */
function itKeepsItsPromises(database: FaultyDatabase): void {
  itSurvivesFaults(database);
  const cases = ['lost-response', 'serialization-failure', 'constraint'];
  for (const { id, name, run } of storageCases(() => openFaulty(database))) {
    if (cases.includes(id)) it(`${id}: ${name}`, run);
  }
}

describe('postgresStorage', () => {
  // It looks for a deadlock before the lock_timeout of a create is over.
  const own = ownServer({ deadlock_timeout: '100ms' });
  let doorway: Doorway;
  let pool: pg.Pool;
  beforeAll(async () => {
    doorway = await Doorway.before({ path: own.server.socket });
    pool = new pg.Pool({
      host: '127.0.0.1',
      port: doorway.port,
      user: 'postgres',
      connectionTimeoutMillis: 5_000,
    });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool.end();
    doorway.close();
  });
  itKeepsItsPromises(
    faultyPostgres(
      () => own.pool,
      () => doorway,
      (options) => postgresStorage(pool, options),
    ),
  );
});

describe('sqliteStorage', () => {
  const file = join(newFolder(), 'plants.db');
  const database = new Database(file);
  database.exec('PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON');
  const other = new Database(file);
  const behind = {
    run: (sql: string) => other.exec(sql),
    rows: (sql: string) => other.prepare(sql).all(),
  };
  const open = (timeoutMs: number) => sqliteStorage(database, { timeoutMs });
  itSurvivesFaults(
    faultySqlite(() => behind, open, { isApart: true, isPrecise: true, faults: sqliteFaultsAtCommit }),
  );
  afterAll(() => {
    database.close();
    other.close();
  });
});
