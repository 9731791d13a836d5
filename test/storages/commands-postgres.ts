// The incidents of commands.heavy.ts on PostgreSQL.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { postgresStorage, schema } from 'plant-store/postgres';
import { onTestFinished } from 'vitest';
import { Pgbouncer } from '../ecosystem/incidents-pgbouncer.js';
import { accountOf, mountDisk, removeFolder, until } from '../programs/cluster/machine.js';
import { Doorway } from '../support/doorway.js';
import { PostgresServer } from '../support/postgres.js';
import { freePort } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';
import { type CommandCase, lineOf } from './commands.js';

let server: PostgresServer;

/** Starts the server, and returns what ends it. */
export async function openPostgres(): Promise<() => Promise<void>> {
  server = await PostgresServer.start({ fsync: 'off', log_line_prefix: '[%p] ' });
  await admin('CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app');
  return () => server.close();
}

/** The client of an administrator. */
export const psql = (): string[] => ['psql', '-X', server.url];

/** A table without plants, which the app may use. */
export const resetPostgres = () =>
  admin(`DROP TABLE IF EXISTS plants; ${schema}; GRANT SELECT, INSERT ON plants TO app`);

async function admin(sql: string): Promise<pg.QueryResult> {
  const client = await connected('admin');
  // By itself: a statement that follows it in one message would be read-only, too.
  await client.query('SET default_transaction_read_only = off');
  return client.query(sql).finally(() => client.end());
}

async function connected(name: string, user = 'postgres'): Promise<pg.Client> {
  const connectionString = server.url.replace('postgres@', `${user}@`);
  const client = new pg.Client({ connectionString, application_name: name });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Another session, which has run this, until the test ends; and its process. */
async function somebody(sql: string, user = 'postgres') {
  const client = await connected('the culprit', user);
  onTestFinished(() => client.end());
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  await client.query(sql);
  return { client, pid: rows[0].pid as number };
}

const url = (user = 'app') => server.url.replace('postgres@', `${user}@`);

function poolOf(connectionString = url(), options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: 1_000,
    application_name: 'plants',
    ...options,
  });
  pool.on('error', () => {});
  onTestFinished(async () => {
    if (!pool.ended) await pool.end();
  });
  return pool;
}

const storageAt = (connectionString = url(), options: pg.PoolConfig = {}) =>
  postgresStorage(poolOf(connectionString, options), { timeoutMs: 1_500 });

/** What an app at this address meets, and the command, too. */
async function at(DATABASE_URL: string, shows: RegExp) {
  return { shows, env: { DATABASE_URL }, storage: storageAt(DATABASE_URL) };
}

function logFile(): string {
  const file = join(newFolder(), 'postgresql.log');
  writeFileSync(file, server.log);
  return file;
}

/** Lets the test run SQL, a create fail by it, and the command show it. */
const after = (sql: string, shows: RegExp, lacks?: RegExp) => async () => {
  await admin(sql);
  return { shows, ...(lacks && { lacks }), storage: storageAt() };
};

/** Creates that do not end before the test does. */
function creating(): void {
  const storage = storageAt(url(), { statement_timeout: 20_000 });
  const created = lineOf(storage);
  onTestFinished(async () => void (await created));
}

const slowTrigger = (seconds: number) =>
  admin(`CREATE OR REPLACE FUNCTION harm() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN new; END $$;
    CREATE TRIGGER harm BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION harm()`);

async function seenInsert() {
  const find =
    "SELECT pid FROM pg_stat_activity WHERE wait_event IN ('PgSleep', 'tuple', 'transactionid') AND query LIKE '%INSERT%'";
  return until('the INSERT', async () => {
    const { rows } = await admin(find);
    if (rows.length === 0) throw new Error('no INSERT');
    return rows[0].pid as number;
  });
}

/** Fills the disk of the table: first by many rows at once, which are rolled back, and then by each that still has room. */
async function fill(): Promise<void> {
  const { client } = await somebody('SELECT 1');
  const insert = (first: number, last: number) =>
    client
      .query(`INSERT INTO plants SELECT n, repeat('x', 200) FROM generate_series(${first}, ${last}) AS n`)
      .then(
        () => true,
        () => false,
      );
  await insert(-200_000, -100_000);
  for (let id = -1; await insert(id, id); id--);
  for (
    let id = -1_000;
    await client.query(`INSERT INTO plants VALUES (${id}, '')`).then(
      () => true,
      () => false,
    );
    id--
  );
}

const on = 'PostgreSQL';

export const casesOfPostgres: readonly CommandCase[] = [
  {
    cause: 'The server is stopped',
    on,
    provoke: async () =>
      at(`postgres://app@127.0.0.1:${await freePort()}/postgres`, /127\.0\.0\.1.*\n?.*refused/),
  },
  {
    cause: 'The name of the host is not found',
    on,
    provoke: () =>
      at('postgres://app@plants.invalid/postgres', /could not translate host name "plants\.invalid"/),
  },
  {
    cause: 'The user is locked',
    on,
    async provoke() {
      await admin('CREATE ROLE locked NOLOGIN');
      return {
        ...(await at(url('locked'), /role "locked" is not permitted to log in/)),
        end: () => admin('DROP ROLE locked'),
      };
    },
  },
  {
    cause: 'No login comes through',
    on,
    async provoke() {
      const doorway = await Doorway.before({ path: server.socket });
      onTestFinished(() => doorway.close());
      const storage = storageAt(`postgres://app@127.0.0.1:${doorway.port}/postgres`, { ssl: true });
      return { shows: /accepting connections[\s\S]*^ off/m, env: { DATABASE_URL: url() }, storage };
    },
  },
  {
    cause: 'PgBouncer has reached a limit',
    on: 'PgBouncer',
    async provoke() {
      const pgbouncer = await Pgbouncer.start(dirname(server.socket), 'postgres');
      onTestFinished(() => pgbouncer.close());
      const address = `postgres://postgres@127.0.0.1:${pgbouncer.port}/postgres`;
      const holder = new pg.Client({ connectionString: address, application_name: 'the culprit' });
      await holder.connect();
      // It keeps the only connection to the server.
      await holder.query('BEGIN');
      onTestFinished(() => holder.end());
      const created = lineOf(storageAt(address));
      onTestFinished(async () => void (await created));
      const PGBOUNCER_URL = `postgres://admin@127.0.0.1:${pgbouncer.port}/pgbouncer`;
      return { shows: /active.*the culprit/, env: { PGBOUNCER_URL } };
    },
  },
  {
    cause: 'The server has no connection left',
    on,
    async provoke() {
      await admin('CREATE ROLE crowd LOGIN CONNECTION LIMIT 1; GRANT SELECT, INSERT ON plants TO crowd');
      const { client } = await somebody("SELECT 'a report'", 'crowd');
      return {
        shows: /\| crowd +\| the culprit +\| idle +\| SELECT 'a report'/,
        storage: storageAt(url('crowd')),
        end: async () => {
          await client.end();
          await until('the end of the session', () => admin('DROP OWNED BY crowd; DROP ROLE crowd'));
        },
      };
    },
  },
  {
    cause: 'The server is read-only',
    on,
    async provoke() {
      await admin('ALTER DATABASE postgres SET default_transaction_read_only = on');
      const end = () => admin('ALTER DATABASE postgres RESET default_transaction_read_only');
      return { shows: /\| on +\| database/, storage: storageAt(), end };
    },
  },
  {
    cause: 'Its disk is full',
    on: 'on its server',
    async provoke() {
      const folder = newFolder();
      mountDisk(folder, accountOf('nobody')!, 1);
      await admin(`CREATE TABLESPACE small LOCATION '${folder}'`);
      await admin('ALTER TABLE plants SET TABLESPACE small');
      await fill();
      return {
        shows: new RegExp(`100% ${folder}`),
        storage: storageAt(),
        end: async () => {
          await admin('DROP TABLE plants');
          await admin('DROP TABLESPACE small');
          removeFolder(folder);
        },
      };
    },
  },
  {
    cause: 'Transactions of somebody else deadlock',
    on,
    async provoke() {
      await admin("INSERT INTO plants VALUES (-1, 'a'), (-2, 'b')");
      const [one, other] = [await somebody('BEGIN'), await somebody('BEGIN')];
      const update = (id: number) => `UPDATE plants SET tag = 'x' WHERE id = ${id}`;
      await one.client.query(update(-1));
      await other.client.query(update(-2));
      const both = Promise.allSettled([one.client.query(update(-2)), other.client.query(update(-1))]);
      await both;
      return { shows: new RegExp(`Process ${one.pid}: UPDATE plants`), env: { LOG: logFile() } };
    },
  },
  {
    cause: 'Another transaction has locked the table',
    on,
    async provoke() {
      const { pid } = await somebody('BEGIN; LOCK TABLE plants IN EXCLUSIVE MODE');
      return {
        shows: new RegExp(`^ +${pid} \\|.* ExclusiveLock .*the culprit`, 'm'),
        storage: storageAt(url(), { statement_timeout: 500 }),
      };
    },
  },
  {
    cause: 'The server stops or starts',
    on,
    async provoke() {
      const own = await PostgresServer.start({ fsync: 'off' });
      const client = new pg.Client(own.url);
      client.on('error', () => {});
      await client.connect();
      // A smart shutdown waits for this session.
      process.kill(own.pid, 'SIGTERM');
      onTestFinished(async () => {
        await client.end();
        await own.close();
      });
      return { shows: /rejecting connections/, env: { DATABASE_URL: own.url } };
    },
  },
  {
    cause: 'The server or the network is frozen',
    on,
    async provoke() {
      const own = await PostgresServer.start({ fsync: 'off' });
      const storage = storageAt(own.url);
      await storage.createTable();
      const letGo = own.freeze();
      onTestFinished(async () => {
        letGo();
        await own.close();
      });
      return { shows: /no response/, env: { DATABASE_URL: own.url }, storage };
    },
  },
  {
    cause: 'Sessions are ended',
    on,
    async provoke() {
      const { client, pid } = await somebody('SELECT 1');
      await admin(`SELECT pg_terminate_backend(${pid})`);
      await client.query('SELECT 1').catch(() => {});
      return {
        shows: new RegExp(`\\[${pid}\\] FATAL: +terminating connection due to administrator`),
        env: { LOG: logFile() },
      };
    },
  },
  {
    cause: 'The app holds all connections',
    on,
    async provoke() {
      const pool = poolOf(url(), { max: 1 });
      const client = await pool.connect();
      onTestFinished(() => client.release());
      await client.query("SELECT 'of the app'");
      return {
        shows: /\| app +\| plants +\| idle +\| SELECT 'of the app'/,
        storage: postgresStorage(pool, { timeoutMs: 1_500 }),
      };
    },
  },
  {
    cause: 'The table is gone',
    on,
    provoke: after('DROP TABLE plants', /Did not find any relation named "plants"/),
  },
  {
    cause: 'The unique index is gone',
    on,
    provoke: after('ALTER TABLE plants DROP CONSTRAINT plants_pkey', / id +\| bigint/, /Indexes:/),
  },
  {
    cause: 'A new column must be filled',
    on,
    provoke: after('ALTER TABLE plants ADD note text NOT NULL', /note +\| text +\| +\| not null/),
  },
  {
    cause: 'A constraint, a trigger or a policy rejects nearly',
    on,
    provoke: after('ALTER TABLE plants ADD CONSTRAINT nothing CHECK (false)', /"nothing" CHECK \(false\)/),
  },
  {
    cause: 'A grant is gone',
    on,
    provoke: after('REVOKE INSERT ON plants FROM app', /app=r\/postgres/),
  },
  {
    cause: 'A statement or a trigger is slow',
    on,
    async provoke() {
      await slowTrigger(2);
      creating();
      const pid = await seenInsert();
      return { shows: new RegExp(`^ +${pid} \\|.*PgSleep.*INSERT INTO`, 'm') };
    },
  },
  {
    cause: 'More creates arrive',
    on,
    async provoke() {
      const { client, pid } = await somebody('SELECT 1');
      const report = client.query("SELECT 'a report', pg_sleep(2)");
      onTestFinished(async () => void (await report));
      await slowTrigger(1);
      creating();
      await seenInsert();
      return { shows: new RegExp(`^ +${pid} \\|.*the culprit.*'a report'`, 'm') };
    },
  },
  {
    cause: 'A transaction has locked a row',
    on,
    async provoke() {
      const { pid } = await somebody("BEGIN; INSERT INTO plants VALUES (1, 'held')");
      return {
        shows: new RegExp(`^ +${pid} \\|.*RowExclusiveLock.*INSERT INTO plants VALUES \\(1`, 'm'),
        storage: storageAt(),
      };
    },
  },
  {
    cause: 'The app releases connections',
    on,
    async provoke() {
      const pool = poolOf(url(), { max: 2 });
      // One for plant-store, and one that stays as it is.
      const clients = [await pool.connect(), await pool.connect()];
      for (const client of clients) await client.query("BEGIN; SELECT 'leaked'");
      clients[0]!.release();
      onTestFinished(() => clients[1]!.release(true));
      return {
        shows: /\| app +\| plants +\| idle in transaction \| BEGIN; SELECT 'leaked'/,
        storage: postgresStorage(pool, { timeoutMs: 1_500 }),
      };
    },
  },
];
