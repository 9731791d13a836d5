// `peers.test.ts` on servers that a machine may have: an older PostgreSQL, and MariaDB with both of its ways to see other transactions.
import { createPool, type Pool } from 'mysql2/promise';
import pg from 'pg';
import { beforeAll, describe } from 'vitest';
import { type MariaDb, oneMariaDb } from '../programs/cluster/galera.js';
import { accountOf, clean } from '../programs/cluster/machine.js';
import { onePostgres, postgresPrograms } from '../programs/cluster/postgres.js';
import { describeUnless } from '../support/obstacle.js';
import { mariaDbObstacle } from './fault-mariadb.js';
import { itTellsTheTruthOnMariaDb } from './peers-mariadb.js';
import { itTellsTheTruthOnPostgres } from './peers-postgres.js';

const hasPostgres = postgresPrograms() && process.getuid?.() === 0 && accountOf('postgres');
const postgresObstacle = hasPostgres
  ? undefined
  : 'there is no PostgreSQL of the system, or no root to start it as its user (apt-get install postgresql)';

describeUnless(postgresObstacle, "on the system's PostgreSQL", () => {
  const own = { pool: undefined as unknown as pg.Pool };
  beforeAll(async () => {
    const server = await onePostgres();
    own.pool = new pg.Pool({ connectionString: server.url });
    return async () => {
      await own.pool.end();
      await clean([server.daemon], server.daemon.folder);
    };
  });
  itTellsTheTruthOnPostgres(own);
});

describeUnless(mariaDbObstacle, 'on MariaDB', () => {
  let server: MariaDb;
  let behind: Pool;
  beforeAll(async () => {
    server = await oneMariaDb();
    behind = createPool(server.url);
    return async () => {
      await behind.end();
      await clean([server.daemon], server.daemon.folder);
    };
  });

  describe.each(['OFF', 'ON'])('innodb_snapshot_isolation=%s', (value) => {
    let pool: Pool;
    beforeAll(async () => {
      await behind.query(`SET GLOBAL innodb_snapshot_isolation = ${value}`);
      pool = createPool(server.url);
      return () => pool.end();
    });
    itTellsTheTruthOnMariaDb(
      () => pool,
      () => behind,
    );
  });
});
