// What the log says of the codes of PostgreSQL and SQLite.
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import Database from 'libsql';
import pg from 'pg';
import { schema } from 'plant-store/postgres';
import { schema as sqliteSchema } from 'plant-store/sqlite';
import { describe, onTestFinished } from 'vitest';
import { certificate } from '../support/certificate.js';
import { itShowsCodes, type Provoked, quoted, type Session } from './lines.js';
import { ownServer } from './postgres-server.js';

const insert = `INSERT INTO plants VALUES (1, '${quoted}', '${quoted}')`;
const raise = (how: string) => [
  `CREATE OR REPLACE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${how} END $$`,
  'CREATE OR REPLACE TRIGGER say BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION say()',
];

const ofPostgres: readonly Provoked[] = [
  {
    what: 'a CHECK',
    before: [`ALTER TABLE plants ADD CONSTRAINT no_rose CHECK (name !~ 'Rosa')`],
    fails: insert,
    line: / 23514 check_violation, schema public, table plants, constraint no_rose\. A constraint/,
  },
  {
    what: 'a second unique key',
    before: ['CREATE UNIQUE INDEX one_name ON plants (name)', insert],
    fails: insert.replace('(1', '(2'),
    line: / 23505 unique_violation, schema public, table plants, constraint one_name\. A constraint/,
  },
  {
    what: 'a foreign key',
    before: [
      'CREATE TABLE beds (name text PRIMARY KEY)',
      'ALTER TABLE plants ADD CONSTRAINT in_bed FOREIGN KEY (tag) REFERENCES beds',
    ],
    fails: insert,
    line: / 23503 foreign_key_violation, schema public, table plants, constraint in_bed\. A constraint/,
  },
  {
    what: 'a column without a value',
    before: ['ALTER TABLE plants ADD bed text NOT NULL'],
    fails: insert,
    line: / 23502 not_null_violation, schema public, table plants, column bed\. A column without a default/,
  },
  {
    what: 'a column that is too narrow',
    before: ['ALTER TABLE plants ALTER name TYPE varchar(3)'],
    fails: insert,
    line: / 22001 string_data_right_truncation\. A column cannot hold a value/,
  },
  {
    what: 'a domain',
    before: [
      'CREATE DOMAIN short AS text CONSTRAINT short_one CHECK (length(value) < 3)',
      'ALTER TABLE plants ALTER name TYPE short',
    ],
    fails: insert,
    line: / 23514 check_violation, schema public, dataType short, constraint short_one\. A constraint/,
  },
  {
    what: 'a trigger that raises',
    before: raise("RAISE 'no bed for %', new.name;"),
    fails: insert,
    line: / P0001 raise_exception, with a context, such as a function or trigger of the app\. A trigger/,
  },
  {
    what: 'a trigger that raises a constraint of its own',
    before: raise("RAISE check_violation USING MESSAGE = new.name, CONSTRAINT = 'bed_full', TABLE = 'beds';"),
    fails: insert,
    line: / 23514 check_violation, table beds, constraint bed_full, with a context/,
  },
  {
    what: 'a trigger with a code of its own',
    before: raise("RAISE 'no bed for %', new.name USING ERRCODE = 'PL001';"),
    fails: insert,
    line: / with a code that plant-store does not know, with a context/,
  },
  {
    what: 'a trigger that names a table that is gone',
    before: raise('PERFORM FROM gone; RETURN new;'),
    fails: insert,
    line: / 42P01 undefined_table, with a context.*\. Something that a statement needs is missing/,
  },
  {
    what: 'no table',
    before: ['DROP TABLE plants'],
    fails: insert,
    line: / 42P01 undefined_table\. Something/,
  },
  {
    what: 'a role without rights',
    before: ['DROP ROLE IF EXISTS guest', 'CREATE ROLE guest', 'GRANT USAGE ON SCHEMA public TO guest'],
    fails: `SET ROLE guest; ${insert}`,
    line: / 42501 insufficient_privilege\. The role of the pool/,
  },
  {
    what: 'a read-only server',
    before: ['SET default_transaction_read_only = on'],
    fails: insert,
    line: / 25006 read_only_sql_transaction\. The server is read-only/,
  },
  {
    what: 'a statement that is too slow',
    fails: 'SET statement_timeout = 10; SELECT pg_sleep(5)',
    line: / 57014 query_canceled\. The statement was cancelled/,
  },
  {
    what: 'a session that is ended',
    fails: 'SELECT pg_terminate_backend(pg_backend_pid())',
    line: / 57P01 admin_shutdown\. The server ended the session/,
  },
];

describe('PostgreSQL', () => {
  const own = ownServer();
  itShowsCodes(ofPostgres, async () => {
    await own.pool.query(`DROP SCHEMA public CASCADE; CREATE SCHEMA public; ${schema}`);
    const client = new pg.Client({ connectionString: own.server.url });
    client.on('error', () => {});
    await client.connect();
    return { run: (sql) => client.query(sql), close: () => client.end() };
  });
});

const ofSqlite: readonly Provoked[] = [
  {
    what: 'a CHECK',
    before: ["CREATE TABLE beds (name TEXT CHECK (name <> 'Rosa'))"],
    fails: "INSERT INTO beds VALUES ('Rosa')",
    line: / SqliteError SQLITE_CONSTRAINT_CHECK\. A constraint/,
  },
  {
    what: 'a second unique key',
    before: ['CREATE UNIQUE INDEX one_name ON plants (name)', insert],
    fails: insert.replace('(1', '(2'),
    line: / SQLITE_CONSTRAINT_UNIQUE\. A constraint/,
  },
  {
    what: 'a trigger that raises',
    before: [`CREATE TRIGGER say BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, '${quoted}'); END`],
    fails: insert,
    line: / SQLITE_CONSTRAINT_TRIGGER\. A trigger/,
  },
  {
    what: 'a column without a value',
    before: ["ALTER TABLE plants ADD bed TEXT NOT NULL DEFAULT 'x'"],
    fails: "INSERT INTO plants VALUES (1, 'Rosa', 'x', NULL)",
    line: / SQLITE_CONSTRAINT_NOTNULL\. A constraint/,
  },
  {
    what: 'no table',
    fails: "INSERT INTO rosa VALUES ('Rosa')",
    line: / SQLITE_ERROR\. Something that a statement needs/,
  },
];

describe('SQLite', () => {
  itShowsCodes(ofSqlite, () => {
    const database = new Database(':memory:');
    database.exec(sqliteSchema);
    return { run: (sql) => database.exec(sql), close: () => database.close() };
  });
});

async function listeningAt(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A connection that fails, as a driver's or that of a verifier does. */
const connecting = (connect: () => Socket) => ({
  run: () =>
    new Promise((_, reject) => {
      const socket = connect().on('error', reject);
      onTestFinished(() => void socket.destroy());
    }),
  close: () => {},
});

describe.each<[what: string, open: () => Promise<Session> | Session, line: RegExp]>([
  [
    'nobody listens',
    () => connecting(() => createConnection(1, '127.0.0.1')),
    / ECONNREFUSED, 127\.0\.0\.1 port 1\. Nobody/,
  ],
  [
    'no host of the name',
    () => connecting(() => createConnection(5432, 'rosa.invalid')),
    / (ENOTFOUND|EAI_AGAIN)\. The name of/,
  ],
  [
    'a certificate of its own',
    async () => {
      const port = await listeningAt(createTlsServer(certificate));
      return connecting(() => connectTls(port, '127.0.0.1'));
    },
    / DEPTH_ZERO_SELF_SIGNED_CERT\. The certificate/,
  ],
  [
    'a server without TLS',
    async () => {
      const port = await listeningAt(createServer((socket) => socket.end('no TLS\n')));
      return connecting(() => connectTls(port, '127.0.0.1'));
    },
    / ERR_SSL_WRONG_VERSION_NUMBER\. The server speaks no TLS/,
  ],
  [
    'a file that is not there',
    () => ({ run: () => open('/rosa/zq7Xm2LwT9'), close: () => {} }),
    / ENOENT\. There is no such/,
  ],
])('%s', (what, openSession, line) => itShowsCodes([{ what, fails: '', line }], openSession));
