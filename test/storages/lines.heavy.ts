// What the log says of the codes of MariaDB, which sends no name of a constraint.
import { createConnection, createPool } from 'mysql2/promise';
import { describeError } from 'plant-store';
import { mysqlStorage, schema } from 'plant-store/mysql';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { type MariaDb, oneMariaDb } from '../programs/cluster/galera.js';
import { clean } from '../programs/cluster/machine.js';
import { describeUnless } from '../support/obstacle.js';
import { context } from './context.js';
import { mariaDbObstacle } from './fault-mariadb.js';
import { itShowsCodes, type Provoked, quoted } from './lines.js';

const insert = `INSERT INTO plants VALUES (1, '${quoted}', '${quoted}')`;
const signal = (how: string) => [
  `CREATE TRIGGER say BEFORE INSERT ON plants FOR EACH ROW SIGNAL SQLSTATE ${how}`,
];

const ofMariaDb: readonly Provoked[] = [
  {
    what: 'a CHECK',
    before: ["ALTER TABLE plants ADD CONSTRAINT no_rose CHECK (name NOT LIKE 'Rosa%')"],
    fails: insert,
    line: / 4025 ER_CONSTRAINT_FAILED\. A constraint/,
  },
  {
    what: 'a second unique key',
    before: ['ALTER TABLE plants ADD UNIQUE one_name (name(100))', insert],
    fails: insert.replace('(1', '(2'),
    line: / 1062 ER_DUP_ENTRY\. A unique key/,
  },
  {
    what: 'a trigger that raises',
    before: signal(`'45000' SET MESSAGE_TEXT = '${quoted}'`),
    fails: insert,
    line: / 1644 ER_SIGNAL_EXCEPTION\. A trigger/,
  },
  {
    what: 'a trigger with a number of its own',
    before: signal(`'45000' SET MYSQL_ERRNO = 31234, MESSAGE_TEXT = '${quoted}'`),
    fails: insert,
    line: / with a code that plant-store does not know\./,
  },
  {
    what: 'a text that is too long',
    before: ['ALTER TABLE plants MODIFY name varchar(3) NOT NULL'],
    fails: insert,
    line: / 1406 ER_DATA_TOO_LONG\. A column cannot hold/,
  },
  {
    what: 'no table',
    before: ['DROP TABLE plants'],
    fails: insert,
    line: / 1146 ER_NO_SUCH_TABLE\. Something/,
  },
  {
    what: 'a column without a value',
    before: ['ALTER TABLE plants ADD bed int NOT NULL'],
    fails: "INSERT INTO plants (id, name) VALUES (1, 'Rosa')",
    line: / 1364 ER_NO_DEFAULT_FOR_FIELD\. A column without a default/,
  },
  {
    what: 'a read-only transaction',
    before: ['SET SESSION TRANSACTION READ ONLY'],
    fails: insert,
    line: / 1792 ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION\. The server is read-only/,
  },
  {
    what: 'a statement that is too slow',
    fails:
      'SET STATEMENT max_statement_time = 0.01 FOR SELECT COUNT(*) FROM information_schema.COLUMNS AS a, information_schema.COLUMNS AS b',
    line: / 1969 ER_STATEMENT_TIMEOUT\. The statement was cancelled/,
  },
  {
    what: 'a session that is ended',
    fails: 'KILL CONNECTION_ID()',
    line: / 1317 ER_QUERY_INTERRUPTED\b|\b1927 ER_CONNECTION_KILLED\b/,
  },
];

describeUnless(mariaDbObstacle, 'MariaDB', () => {
  let server: MariaDb;
  beforeAll(async () => {
    server = await oneMariaDb();
    return () => clean([server.daemon], server.daemon.folder);
  });
  itShowsCodes(ofMariaDb, async () => {
    const connection = await createConnection({ uri: server.url, multipleStatements: true });
    connection.on('error', () => {});
    await connection.query(`DROP TABLE IF EXISTS plants; ${schema}`);
    return { run: (sql) => connection.query(sql), close: () => connection.destroy() };
  });

  it('names the table, and its other unique keys, which the server does not send as fields', async () => {
    const pool = createPool(server.url);
    onTestFinished(() => pool.end());
    await pool.query('DROP TABLE IF EXISTS plants');
    await pool.query(schema);
    await pool.query('ALTER TABLE plants ADD UNIQUE one_name (name(100)), ADD CHECK (name <> "nettle")');
    const storage = mysqlStorage(pool);
    expect(await storage.create({ id: 1n, name: quoted }, context)).toBe('created');
    const lineOf = async (id: bigint, name: string) =>
      storage.create({ id, name }, context).then(String, (error) => describeError(error, 50004));
    expect(await lineOf(2n, quoted)).toMatch(
      /^another unique key of the table `plants` has this value already: one_name: Error 1062 ER_DUP_ENTRY\./,
    );
    expect(await lineOf(3n, 'nettle')).toMatch(
      /^the database rejects a plant for the table plants: Error 4025 ER_CONSTRAINT_FAILED\. A constraint/,
    );
  });
});
