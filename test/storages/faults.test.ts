// The built-in storages through the faults that recipes run, too.
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { afterAll, beforeAll, describe } from 'vitest';
import { Doorway } from '../support/doorway.js';
import { faultyPostgres } from './fault-databases.js';
import { itSurvivesFaults } from './faults.js';
import { ownServer } from './postgres-server.js';

describe('postgresStorage', () => {
  const own = ownServer();
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
  itSurvivesFaults(
    faultyPostgres(
      () => own.pool,
      () => doorway,
      (options) => postgresStorage(pool, options),
    ),
  );
});
