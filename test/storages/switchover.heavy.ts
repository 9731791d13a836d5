// A planned switchover: the old primary becomes read-only and keeps its connections, and the address leads to the new one from then on.
import type { NetConnectOpts } from 'node:net';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import type { PlantStorage } from 'plant-store';
import { schemaOf as mysqlSchema, mysqlStorage } from 'plant-store/mysql';
import { schemaOf as postgresSchema, postgresStorage } from 'plant-store/postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type MariaDb, oneMariaDb } from '../programs/cluster/galera.js';
import { clean } from '../programs/cluster/machine.js';
import { Doorway } from '../support/doorway.js';
import { describeUnless } from '../support/obstacle.js';
import { PostgresServer } from '../support/postgres.js';
import { waitFor } from '../support/wait-for.js';
import { context } from './context.js';
import { mariaDbObstacle } from './fault-mariadb.js';

/** A server with an empty table, of which the app is no superuser. */
interface Primary {
  readonly target: NetConnectOpts;
  run(sql: string): Promise<unknown>;
  ids(): Promise<string[]>;
}

interface Database {
  start(hasTriggers: boolean): Promise<Primary>;
  /** What makes a primary read-only, without the end of a connection. */
  readonly readOnly: readonly string[];
  /** A storage through this port, and what opens so many connections of its pool at once. */
  open(port: number): {
    storage: PlantStorage;
    warm(count: number): Promise<unknown>;
    end(): Promise<unknown>;
  };
}

const postgres: Database = {
  async start(hasTriggers) {
    const server = await PostgresServer.start({ fsync: 'off' });
    const pool = new pg.Pool({ connectionString: server.url, max: 1 });
    onTestFinished(async () => {
      await pool.end();
      await server.close();
    });
    await pool.query(`${postgresSchema()}; CREATE TABLE log (id bigint)`);
    if (hasTriggers)
      await pool.query(`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO log VALUES (new.id); RETURN new; END $$;
        CREATE TRIGGER note AFTER INSERT ON plants FOR EACH ROW EXECUTE FUNCTION note()`);
    return {
      target: { path: server.socket },
      run: (sql) => pool.query(sql),
      ids: async () => (await pool.query('SELECT id::text FROM plants')).rows.map(({ id }) => id),
    };
  },
  readOnly: ['ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()'],
  open(port) {
    const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 10 });
    pool.on('error', () => {});
    return {
      storage: postgresStorage(pool, { timeoutMs: 5_000 }),
      async warm(count) {
        const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()));
        for (const client of clients) client.release();
      },
      end: () => pool.end(),
    };
  },
};

const mariaDb: Database = {
  async start(hasTriggers) {
    const server: MariaDb = await oneMariaDb();
    onTestFinished(() => clean([server.daemon], server.daemon.folder));
    const trigger = 'CREATE TRIGGER note AFTER INSERT ON plants FOR EACH ROW INSERT INTO log VALUES (new.id)';
    const setup = [
      mysqlSchema(),
      'CREATE TABLE log (id BIGINT)',
      ...(hasTriggers ? [trigger] : []),
      // Others may write to a server that is read-only.
      "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'app'",
      "GRANT SELECT, INSERT, TRIGGER ON plants.* TO app@'127.0.0.1'",
    ];
    for (const sql of setup) await server.query(sql);
    return {
      target: { host: server.address, port: server.port },
      run: (sql) => server.query(sql),
      ids: async () => (await server.query('SELECT CAST(id AS CHAR) FROM plants')).map(([id]) => id!),
    };
  },
  readOnly: ['SET GLOBAL read_only = 1'],
  open(port) {
    const uri = `mysql://app:app@127.0.0.1:${port}/plants`;
    const pool = createPool({ uri, connectionLimit: 10, connectTimeout: 5_000 });
    return {
      storage: mysqlStorage(pool, { timeoutMs: 5_000 }),
      async warm(count) {
        const connections = await Promise.all(Array.from({ length: count }, () => pool.getConnection()));
        for (const connection of connections) connection.release();
      },
      end: () => pool.end(),
    };
  },
};

/** Eight clients create plants all the time. */
function createAll(storage: PlantStorage) {
  const created: { id: string; at: number }[] = [];
  /** Those that were told anything else. A busy machine may take longer than the timeout. */
  const others: { id: string; outcome: string }[] = [];
  let isOver = false;
  let next = 1n;
  const client = async () => {
    while (!isOver) {
      const id = next++;
      const outcome = await storage.create({ id, name: 'Rosa' }, context).catch(({ name }: Error) => name);
      if (outcome === 'created') created.push({ id: String(id), at: performance.now() });
      else others.push({ id: String(id), outcome });
      // While the circuit is open, nothing else lets the event loop go on.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const clients = Array.from({ length: 8 }, client);
  const stop = async () => {
    isOver = true;
    await Promise.all(clients);
  };
  return { created, others, stop };
}

function itCreatesAfterSwitchover(database: Database): void {
  it.each([
    ['without triggers', false],
    ['with a trigger', true],
  ])(
    'a table %s: creates work again within five seconds, and each is stored where it was created',
    async (_, hasTriggers) => {
      const [first, second] = [await database.start(hasTriggers), await database.start(hasTriggers)];
      const doorway = await Doorway.before(first.target);
      onTestFinished(() => doorway.close());
      const { storage, warm, end } = database.open(doorway.port);
      onTestFinished(async () => void (await end()));
      await warm(10);
      const { created, others, stop } = createAll(storage);
      await waitFor(() => expect(created.length).toBeGreaterThan(100));
      for (const sql of database.readOnly) await first.run(sql);
      doorway.leadTo(second.target);
      await second.run("INSERT INTO plants (id, name) VALUES (-1, 'the first write')");
      const switchedAt = performance.now();
      await waitFor(async () => expect((await second.ids()).length).toBeGreaterThan(100));
      await stop();
      const here = new Set(await second.ids());
      const times = created.filter(({ id }) => here.has(id)).map(({ at }) => at);
      expect(Math.min(...times) - switchedAt).toBeLessThan(5_000);
      for (const { outcome } of others) expect(['StorageBusy', 'TimeoutError']).toContain(outcome);
      const unknown = others.filter(({ outcome }) => outcome === 'TimeoutError').map(({ id }) => id);
      const stored = [...(await first.ids()), ...here].filter((id) => id !== '-1' && !unknown.includes(id));
      expect(stored.sort()).toEqual(created.map(({ id }) => id).sort());
    },
  );
}

describe('PostgreSQL', () => itCreatesAfterSwitchover(postgres));
describeUnless(mariaDbObstacle, 'MariaDB', () => itCreatesAfterSwitchover(mariaDb));
