// What `check()` throws says whether to wait: a `StorageBusy` for what passes by itself, and passes; any other error needs a change.
import { createConnection, createPool, type PoolOptions } from 'mysql2/promise';
import pg from 'pg';
import { StorageBusy } from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { schema, sqliteStorage } from 'plant-store/sqlite';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { oneMariaDb } from '../programs/cluster/galera.js';
import { clean } from '../programs/cluster/machine.js';
import { describeUnless } from '../support/obstacle.js';
import { PostgresServer } from '../support/postgres.js';
import { freePort } from '../support/program.js';
import { newFile } from '../support/run-folder.js';
import { connect, sqliteKinds } from '../support/sqlite-handles.js';
import { context, expectSentence } from './checks.js';
import { mariaDbObstacle } from './fault-mariadb.js';

interface Checked {
  readonly check: () => Promise<unknown>;
  readonly create: (plant: { id: bigint; name: string }, given: never) => Promise<unknown>;
}

/** Expects that a check is told to wait, until somebody ends what it has met. */
async function expectBusy(storage: Checked, end: () => unknown): Promise<void> {
  const error = await storage.check().catch((error) => error);
  await end();
  expect(error).toBeInstanceOf(StorageBusy);
  await storage.check();
  expect(await storage.create({ id: 1n, name: 'Rosa' }, context as never)).toBe('created');
}

const expectChange = async ({ check }: Checked) => expectSentence(await check().catch((error) => error), '');

describe('PostgreSQL', () => {
  let server: PostgresServer;
  let behind: pg.Client;
  const timeoutMs = 1_000;

  function storageOf(options: pg.PoolConfig = {}) {
    const pool = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 500, ...options });
    pool.on('error', () => {});
    onTestFinished(() => pool.end());
    return postgresStorage(pool, { timeoutMs });
  }

  beforeAll(async () => {
    server = await PostgresServer.start({ fsync: 'off' });
    return () => server.close();
  });

  beforeEach(async () => {
    behind = new pg.Client(server.url);
    behind.on('error', () => {});
    await behind.connect();
    await behind.query('DROP TABLE IF EXISTS plants');
    await behind.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)');
    return () => behind.end();
  });

  it.each(['ACCESS EXCLUSIVE', 'EXCLUSIVE', 'SHARE'])('a lock of another transaction, %s', async (mode) => {
    await behind.query(`BEGIN; LOCK TABLE plants IN ${mode} MODE`);
    await expectBusy(storageOf(), () => behind.query('ROLLBACK'));
  });

  it('ids that another transaction inserts are no reason to change something', async () => {
    await behind.query("BEGIN; INSERT INTO plants SELECT n, 'Acer' FROM generate_series(0, 1000) AS n");
    const error = await storageOf()
      .check()
      .catch((error) => error);
    await behind.query('ROLLBACK');
    if (error) expect(error).toBeInstanceOf(StorageBusy);
  });

  it('a server that is stopped', async () => {
    const storage = storageOf();
    await storage.check();
    await server.stop();
    await expectBusy(storage, () => server.restart());
  });

  it('a server that hangs', async () => {
    const storage = storageOf();
    await storage.check();
    const letGo = server.freeze();
    await expectBusy(storage, letGo);
  });

  it('a primary that has become read-only', async () => {
    await behind.query('ALTER ROLE postgres SET default_transaction_read_only = on');
    const storage = storageOf({ idleTimeoutMillis: 1, max: 1 });
    await expectBusy(storage, () =>
      behind.query('ALTER ROLE postgres SET default_transaction_read_only = off'),
    );
  });

  it('no connections left', async () => {
    await behind.query(
      'CREATE ROLE single LOGIN CONNECTION LIMIT 1; GRANT SELECT, INSERT ON plants TO single',
    );
    const connectionString = server.url.replace('postgres@', 'single@');
    const first = new pg.Client(connectionString);
    await first.connect();
    await expectBusy(storageOf({ connectionString }), () => first.end());
    await behind.query('DROP OWNED BY single; DROP ROLE single');
  });

  it('a port that nobody listens on', async () => {
    const { check } = storageOf({
      connectionString: `postgres://postgres@127.0.0.1:${await freePort()}/postgres`,
    });
    await expect(check()).rejects.toBeInstanceOf(StorageBusy);
  });

  it.each(['postgres@', '/postgres'])(
    'a user or a database that is not there needs a change: %s',
    async (part) => {
      const connectionString = server.url.replace(part, part.replace('postgres', 'nobody'));
      await expectChange(storageOf({ connectionString }));
    },
  );
});

describeUnless(mariaDbObstacle, 'MariaDB', () => {
  let url: string;
  let behind: Awaited<ReturnType<typeof createConnection>>;

  function storageOf(options: PoolOptions = {}) {
    const pool = createPool({ uri: url, ...options });
    onTestFinished(() => pool.end());
    return mysqlStorage(pool, { timeoutMs: 1_500 });
  }

  beforeAll(async () => {
    const server = await oneMariaDb();
    url = server.url;
    behind = await createConnection({ uri: url, multipleStatements: true });
    await behind.query(
      "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'app'; GRANT SELECT, INSERT ON plants.* TO app@'127.0.0.1'",
    );
    return async () => {
      await behind.end();
      await clean([server.daemon], server.daemon.folder);
    };
  });

  beforeEach(async () => {
    await behind.query('DROP TABLE IF EXISTS plants');
    await behind.query('CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
  });

  it.each(['WRITE', 'READ'])('a lock of another connection, %s', async (mode) => {
    await behind.query(`LOCK TABLES plants ${mode}`);
    await expectBusy(storageOf(), () => behind.query('UNLOCK TABLES'));
  });

  it('ids that another transaction inserts are no reason to change something', async () => {
    await behind.query("BEGIN; INSERT INTO plants SELECT seq, 'Acer', NULL FROM seq_0_to_1000");
    const error = await storageOf()
      .check()
      .catch((error) => error);
    await behind.query('ROLLBACK');
    if (error) expect(error).toBeInstanceOf(StorageBusy);
  });

  it('a primary that has become read-only', async () => {
    await behind.query('SET GLOBAL read_only = 1');
    await expectBusy(storageOf({ user: 'app', password: 'app' }), () =>
      behind.query('SET GLOBAL read_only = 0'),
    );
  });

  it('a port that nobody listens on', async () => {
    const { check } = storageOf({ port: await freePort() });
    await expect(check()).rejects.toBeInstanceOf(StorageBusy);
  });

  it.each([{ password: 'wrong' }, { database: 'nowhere' }])('%j needs a change', async (options) => {
    await expectChange(storageOf(options));
  });
});

describe.each(Object.entries(sqliteKinds))('SQLite by %s', (_, { open }) => {
  it('a lock of another connection', async () => {
    const file = newFile();
    const behind = connect(file);
    behind.exec(`PRAGMA journal_mode = WAL; ${schema}`);
    const { handle, close } = open(file, {});
    onTestFinished(() => {
      close();
      behind.close();
    });
    behind.exec('BEGIN IMMEDIATE');
    await expectBusy(sqliteStorage(handle, { timeoutMs: 300 }), () => behind.exec('ROLLBACK'));
  });
});
