// What an app puts on the same table of MariaDB: triggers, partitions, views.
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { type MysqlPool, mysqlStorage, schemaOf } from 'plant-store/mysql';
import { expect, it } from 'vitest';
import { plantOf } from '../support/tables.js';
import { createTruly, type FaultyTable } from './faults.js';
import { expectNoPlant, expectTruth, rosa } from './peers.js';
import { expectNoHarm, phrases } from './phrases.js';

type StatementsOf = (table: string) => readonly string[];

const before = (table: string, body: string) =>
  `CREATE TRIGGER ${table}_b BEFORE INSERT ON ${table} FOR EACH ROW ${body}`;
const after = (table: string, body: string) =>
  `CREATE TRIGGER ${table}_a AFTER INSERT ON ${table} FOR EACH ROW ${body}`;
const logOf = (table: string) => `${table}_log`;
const createLog = (table: string) => `CREATE TABLE ${logOf(table)} (id BIGINT)`;
const viewOf = (table: string) => `CREATE VIEW ${table} AS SELECT * FROM ${table}_below`;

const onMariaDb: Record<string, StatementsOf> = {
  'an audit trigger': (table) => [
    schemaOf({ table }),
    createLog(table),
    after(table, `INSERT INTO ${logOf(table)} VALUES (new.id)`),
  ],
  'a trigger that reads the id before each row': (table) => [
    schemaOf({ table }),
    createLog(table),
    before(table, `INSERT INTO ${logOf(table)} VALUES (new.id)`),
  ],
  'a trigger that counts before each row': (table) => [
    schemaOf({ table }),
    createLog(table),
    `INSERT INTO ${logOf(table)} VALUES (0)`,
    before(table, `UPDATE ${logOf(table)} SET id = id + 1`),
  ],
  'partitions by hash': (table) => [`${schemaOf({ table })} PARTITION BY HASH (id) PARTITIONS 2`],
  'partitions by range': (table) => [
    `${schemaOf({ table })} PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (3), PARTITION b VALUES LESS THAN MAXVALUE)`,
  ],
  'a view': (table) => [schemaOf({ table: `${table}_below` }), viewOf(table)],
  'a generated column': (table) => [
    schemaOf({ table }),
    `ALTER TABLE ${table} ADD label LONGTEXT AS (UPPER(name)) STORED`,
  ],
  'versions of each row': (table) => [`${schemaOf({ table })} WITH SYSTEM VERSIONING`],
};

/** What plant-store cannot use. */
const refusedByMariaDb: Record<string, StatementsOf> = {
  'a trigger that changes the id': (table) => [
    schemaOf({ table }),
    before(table, 'SET new.id = new.id + 100'),
  ],
  'a view of a table whose trigger changes the id': (table) => [
    schemaOf({ table: `${table}_below` }),
    before(`${table}_below`, 'SET new.id = new.id + 100'),
    viewOf(table),
  ],
  'a trigger that deletes the row': (table) => [
    schemaOf({ table }),
    after(table, `DELETE FROM ${table} WHERE id = new.id`),
  ],
  'a partition for other ids alone': (table) => [
    `${schemaOf({ table })} PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (0))`,
  ],
};

let tables = 0;

/**
 * Declares what creates are told in a table of this MariaDB that the app uses, too.
 *
 * @param pool what the storages use
 * @param behind looks behind them
 */
export function itTellsTheTruthOnMariaDb(pool: () => MysqlPool, behind: () => Pool): void {
  async function open(statementsOf: StatementsOf): Promise<FaultyTable> {
    const table = `peers_${tables++}`;
    for (const statement of statementsOf(table)) await behind().query(statement);
    const peek = async (id: bigint) => {
      const select = `SELECT CAST(id AS CHAR) AS id, name, tag FROM ${table} WHERE id = ${id}`;
      return plantOf((await behind().query<RowDataPacket[]>(select))[0][0]);
    };
    return { storage: mysqlStorage(pool(), { table, timeoutMs: 10_000 }), table, peek };
  }

  it.each(Object.entries(onMariaDb))('%s: created and taken are true', async (_, statementsOf) => {
    await expectTruth(await open(statementsOf));
  });

  it.each(Object.entries(refusedByMariaDb))('%s: no plant is created or taken', async (_, statementsOf) => {
    const table = await open(statementsOf);
    await expectNoPlant(table, [1]);
    await expectNoPlant(table, [2, 3, 4]);
  });

  it('a trigger that numbers plants without a number: the others of its batch keep theirs', async () => {
    const body = 'SET new.id = IF(new.id = 0, 77, new.id)';
    const table = await open((table) => [schemaOf({ table }), before(table, body)]);
    expect(await createTruly(table, [rosa(1), rosa(0), rosa(2)])).toEqual(['created', 'unknown', 'created']);
  });

  it.each(phrases)('a trigger that says %s harms no other plant', async (phrase) => {
    const body = `BEGIN IF new.tag = 'fault' THEN SET @text = new.name; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = @text; END IF; END`;
    const { storage } = await open((table) => [schemaOf({ table }), before(table, body)]);
    await expectNoHarm(storage, phrase);
  });

  it('a counter that other transactions read and update: each plant is created', async () => {
    const table = await open(onMariaDb['a trigger that counts before each row']!);
    let isOver = false;
    const rival = async () => {
      const connection = await behind().getConnection();
      let conflicts = 0;
      while (!isOver) {
        try {
          await connection.query('BEGIN');
          await connection.query(`SELECT id FROM ${logOf(table.table)}`);
          await connection.query(`UPDATE ${logOf(table.table)} SET id = id + 1`);
          await connection.query('COMMIT');
        } catch {
          conflicts++;
          await connection.query('ROLLBACK');
        }
      }
      connection.release();
      return conflicts;
    };
    const rivals = [rival(), rival()];
    for (let id = 0; id < 100; id += 5) {
      const plants = Array.from({ length: 5 }, (_, i) => rosa(id + i));
      expect(await createTruly(table, plants)).toEqual(plants.map(() => 'created'));
    }
    isOver = true;
    await Promise.all(rivals);
  });
}
