// How MariaDB provokes the faults of `faults.ts`.
import { existsSync } from 'node:fs';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { PlantStorage } from 'plant-store';
import { schemaOf } from 'plant-store/mysql';
import type { Doorway } from '../support/doorway.js';
import { plantOf } from '../support/tables.js';
import type { Faults, FaultyDatabase } from './faults.js';

/** Why no MariaDB can run here; `npm run test:cluster` installs one. */
export const mariaDbObstacle =
  existsSync('/usr/sbin/mariadbd') && process.getuid?.() === 0
    ? undefined
    : 'there is no MariaDB, or no root to start it as its user (apt-get install mariadb-server)';

/** Lets the next INSERT fail. A sequence counts the tries, because a rollback does not take its numbers back. */
const failOnMariaDb = (code: string, table: string) => {
  const [sqlState, errno] = code === '40001' ? [code, 1213] : ['23000', 4025];
  return [
    'DROP TRIGGER IF EXISTS fail_next',
    'CREATE OR REPLACE SEQUENCE tries',
    `CREATE TRIGGER fail_next BEFORE INSERT ON ${table} FOR EACH ROW IF NEXTVAL(tries) = 1 THEN
      SIGNAL SQLSTATE '${sqlState}' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'once'; END IF`,
  ];
};

const mariaDbFaults: Faults = {
  schemaOf: (table) => schemaOf({ table: table.replaceAll('`', '') }),
  makeNamesUnique: (table) => `ALTER TABLE ${table} ADD UNIQUE (name(100))`,
  // One of a serialization failure has the same number.
  failOnce: { 'a deadlock': (table) => failOnMariaDb('40001', table) },
  fail: failOnMariaDb,
  quote: (table) => [
    `CREATE TRIGGER quote BEFORE INSERT ON ${table} FOR EACH ROW BEGIN
      SET @text = LEFT(CONCAT_WS(', ', 'no bed', NEW.name, HEX(NEW.name), TO_BASE64(NEW.name)), 128);
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = @text; END`,
  ],
  locksRows: true,
};

/**
 * @param storageOf makes the storage whose table has this name
 */
export function faultyMariaDb(
  behind: () => Pool,
  doorway: () => Doorway,
  storageOf: (options: { table: string; timeoutMs: number }) => PlantStorage,
  isPrecise = true,
): FaultyDatabase {
  const run = async (...statements: string[]) => {
    for (const statement of statements) await behind().query(statement);
  };
  return {
    doorway,
    faults: mariaDbFaults,
    isPrecise,
    run,
    async begin(statement) {
      const connection = await behind().getConnection();
      await connection.query('BEGIN');
      await connection.query(statement);
      return {
        run: (statement) => connection.query(statement),
        end: (how) => connection.query(how).finally(() => connection.release()),
      };
    },
    async open(timeoutMs) {
      await run('DROP TABLE IF EXISTS plants', schemaOf());
      const peek = async (id: bigint) => {
        const select = `SELECT CAST(id AS CHAR) AS id, name, tag FROM plants WHERE id = ${id}`;
        const [[row]] = await behind().query<RowDataPacket[]>(select);
        return plantOf(row);
      };
      return { storage: storageOf({ table: 'plants', timeoutMs }), table: 'plants', peek };
    },
  };
}
