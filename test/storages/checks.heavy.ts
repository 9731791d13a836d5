// `check()` on at least eighty kinds of tables, on each database that has them: it is what a create would be.
import { basename, dirname } from 'node:path';
import { createConnection, createPool, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { oneMariaDb } from '../programs/cluster/galera.js';
import { clean } from '../programs/cluster/machine.js';
import { postgresPrograms } from '../programs/cluster/postgres.js';
import { describeUnless } from '../support/obstacle.js';
import { PostgresServer } from '../support/postgres.js';
import { newFile } from '../support/run-folder.js';
import { connect, sqliteKinds, sqliteVariants } from '../support/sqlite-handles.js';
import { itChecksAsItCreates, type OpenTable, type TableKind } from './checks.js';
import { kinds, rooms } from './checks-kinds.js';
import { mariaDbObstacle } from './fault-mariadb.js';

it('there are at least eighty kinds, and none hides another', () => {
  const titles = rooms.flatMap((room) => Object.keys(room));
  expect(Object.keys(kinds)).toHaveLength(titles.length);
  expect(titles.length).toBeGreaterThanOrEqual(80);
});

const timeoutMs = 5_000;

const postgresObstacle = postgresPrograms()
  ? undefined
  : 'there is no PostgreSQL of the system (apt-get install postgresql)';

describe('PostgreSQL, the newest', () => itHoldsOnPostgres());
describeUnless(postgresObstacle, "PostgreSQL, the system's", () => itHoldsOnPostgres(postgresPrograms()));

function itHoldsOnPostgres(programs?: string): void {
  const version = programs ? Number(basename(dirname(programs))) : 18;
  const own = Object.entries(kinds).filter(([, { since = 0 }]) => since <= version);
  let server: PostgresServer;
  let behind: pg.Client;

  beforeAll(async () => {
    server = await PostgresServer.start({ fsync: 'off', full_page_writes: 'off' }, programs);
    behind = new pg.Client(server.url);
    await behind.connect();
    await behind.query('CREATE ROLE app LOGIN');
    return async () => {
      await behind.end();
      await server.close();
    };
  });

  async function stored(): Promise<unknown> {
    const tables = await behind.query(
      "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('public', 'garden')",
    );
    const found = new Map<string, unknown>();
    for (const { name } of tables.rows) {
      found.set(name, (await behind.query(`SELECT t::text FROM ONLY ${name} AS t ORDER BY 1`)).rows);
    }
    return found;
  }

  itChecksAsItCreates(
    'postgres',
    Object.fromEntries(own),
    async ({ options, session, isOfUser }, statements) => {
      await behind.query('DROP SCHEMA IF EXISTS garden CASCADE; DROP SCHEMA public CASCADE');
      await behind.query('CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO app');
      await behind.query(statements);
      const connectionString = isOfUser ? server.url.replace('postgres@', 'app@') : server.url;
      // One connection: nothing that is left open on it goes unseen.
      const pool = new pg.Pool({ connectionString, max: 1 });
      if (session?.postgres) pool.on('connect', (client) => client.query(session.postgres!));
      onTestFinished(() => pool.end());
      return {
        storage: () => postgresStorage(pool, { timeoutMs, ...options } as object),
        run: (sql) => behind.query(sql),
        stored,
      };
    },
  );
}

describeUnless(mariaDbObstacle, 'MariaDB', () => {
  let url: string;
  let behind: Awaited<ReturnType<typeof createConnection>>;

  beforeAll(async () => {
    const server = await oneMariaDb();
    url = server.url;
    behind = await createConnection({ uri: url, multipleStatements: true });
    return async () => {
      await behind.end();
      await clean([server.daemon], server.daemon.folder);
    };
  });

  async function stored(): Promise<unknown> {
    const [tables] = await behind.query<RowDataPacket[]>(
      "SELECT TABLE_SCHEMA AS s, TABLE_NAME AS t FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('plants', 'garden') AND TABLE_TYPE NOT IN ('VIEW', 'SEQUENCE')",
    );
    const found = new Map<string, unknown>();
    for (const { s, t } of tables)
      found.set(`${s}.${t}`, (await behind.query(`SELECT * FROM ${s}.\`${t}\``))[0]);
    return found;
  }

  itChecksAsItCreates('mariadb', kinds, async ({ options, session, isOfUser }, statements) => {
    await behind.query(
      'DROP DATABASE IF EXISTS garden; DROP DATABASE plants; CREATE DATABASE plants; USE plants',
    );
    await behind.query("CREATE OR REPLACE USER app@'127.0.0.1' IDENTIFIED BY 'app'");
    await behind.query(statements);
    const user = isOfUser ? { user: 'app', password: 'app' } : {};
    const pool = createPool({ uri: url, connectionLimit: 1, ...user });
    if (session?.mariadb) pool.on('connection', (connection) => connection.query(session.mariadb!));
    onTestFinished(() => pool.end());
    return {
      storage: () => mysqlStorage(pool, { timeoutMs, ...options } as object),
      run: (sql) => behind.query(sql),
      stored,
    };
  });
});

describe.each(Object.entries({ ...sqliteKinds, ...sqliteVariants }))('SQLite by %s', (name, { open }) => {
  // It opens another connection for each transaction.
  const hasSessions = name !== 'expo-sqlite';
  const own = Object.entries(kinds).filter(([, { session }]) => hasSessions || !session?.sqlite);

  async function openTable({ options, session }: TableKind, statements: string): Promise<OpenTable> {
    const file = newFile();
    const behind = connect(file);
    // Some tables of the app name what is not there.
    behind.exec(`PRAGMA foreign_keys = OFF;\n${statements}`);
    const { handle, run, close } = open(file, {});
    await run(session?.sqlite ?? 'PRAGMA foreign_keys = ON');
    onTestFinished(() => {
      close();
      behind.close();
    });
    return {
      storage: () => sqliteStorage(handle, { timeoutMs, ...options } as object),
      run,
      async stored() {
        const tables = behind.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as {
          name: string;
        }[];
        return tables.map(({ name }) => [name, behind.prepare(`SELECT * FROM "${name}"`).raw().all()]);
      },
    };
  }

  itChecksAsItCreates('sqlite', Object.fromEntries(own), openTable);
});
