// The built-in storages through the faults that recipes run, too.
import pg from 'pg';
import type { PlantStorage } from 'plant-store';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { storageCases } from 'plant-store/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { evaluate, pageRows } from '../ecosystem/page-rows.js';
import { Doorway } from '../support/doorway.js';
import { newFile } from '../support/run-folder.js';
import { connect, sqliteKinds } from '../support/sqlite-handles.js';
import { faultyPostgres, faultySqlite, sqliteFaultsAtCommit } from './fault-databases.js';
import { type FaultyDatabase, itSurvivesFaults, openFaulty } from './faults.js';
import { ownServer } from './postgres-server.js';

/** The published cases that need faults; `storages.test.ts` runs the others. */
const casesOfFaults: readonly string[] = ['lost-response', 'serialization-failure', 'constraint'];

function itKeepsItsPromises(
  database: FaultyDatabase,
  isNeeded = (id: string) => casesOfFaults.includes(id),
): void {
  itSurvivesFaults(database);
  for (const { id, name, run } of storageCases(() => openFaulty(database))) {
    if (isNeeded(id)) it(`${id}: ${name}`, run);
  }
}

describe('on PostgreSQL', () => {
  // It looks for a deadlock before the lock_timeout of a create is over.
  const own = ownServer({ deadlock_timeout: '100ms' });
  let doorway: Doorway;
  beforeAll(async () => {
    doorway = await Doorway.before({ path: own.server.socket });
    return () => doorway.close();
  });
  const database = (storageOf: Parameters<typeof faultyPostgres>[2]) =>
    faultyPostgres(
      () => own.pool,
      () => doorway,
      storageOf,
    );

  describe('postgresStorage', () => {
    let pool: pg.Pool;
    beforeAll(() => {
      const address = { host: '127.0.0.1', port: doorway.port, user: 'postgres' };
      pool = new pg.Pool({ ...address, connectionTimeoutMillis: 5_000 });
      pool.on('error', () => {});
      return () => pool.end();
    });
    itKeepsItsPromises(database((options) => postgresStorage(pool, options)));
  });

  // Of the table of recipes. The suite of other runtimes runs this file on Bun.
  if ('Bun' in globalThis) {
    describe('Bun.sql', () => {
      let sql: { close(): Promise<void> };
      beforeAll(async () => {
        const { Bun } = globalThis as unknown as { Bun: { SQL: new (url: string) => typeof sql } };
        sql = new Bun.SQL(`postgres://postgres@127.0.0.1:${doorway.port}/postgres`);
        return () => sql.close();
      });
      const line = pageRows('Libraries on PostgreSQL').get('Bun.sql')!;
      itKeepsItsPromises(
        database((options) => {
          const make = (pool: never) => postgresStorage(pool, options);
          return evaluate(line, { sql, postgresStorage: make }) as PlantStorage;
        }),
        () => true,
      );
    });
  }
});

describe.each(Object.entries(sqliteKinds))('sqliteStorage of %s', (_, { open }) => {
  const file = newFile();
  const other = connect(file);
  other.exec('PRAGMA journal_mode=WAL');
  const { handle, run, close } = open(file, {});
  // Of libsql/promise. The others have it on.
  beforeAll(() => run('PRAGMA foreign_keys=ON'));
  const behind = {
    run: (sql: string) => other.exec(sql),
    rows: (sql: string) => other.prepare(sql).all(),
  };
  const openStorage = (timeoutMs: number) => sqliteStorage(handle, { timeoutMs });
  itSurvivesFaults(
    faultySqlite(() => behind, openStorage, { isApart: true, isPrecise: true, faults: sqliteFaultsAtCommit }),
  );
  afterAll(() => {
    close();
    other.close();
  });
});
