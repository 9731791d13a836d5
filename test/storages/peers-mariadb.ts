// What an app puts on the same table of MariaDB: triggers, partitions, views.
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { type MysqlPool, mysqlStorage, schemaOf } from 'plant-store/mysql';
import { expect, it } from 'vitest';
import { plantOf, unended } from '../support/tables.js';
import { createTruly } from './faults.js';
import { expectCheck, expectNoLogin, expectNoPlant, expectTruth, type PeersTable, rosa } from './peers.js';
import { expectNoHarm, phrases } from './phrases.js';
import { errorNumbers, expectFewProbes, expectOnlyItsPlant } from './raised.js';

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
  'partitions by hash': (table) => [`${unended(schemaOf({ table }))} PARTITION BY HASH (id) PARTITIONS 2`],
  'partitions by range': (table) => [
    `${unended(schemaOf({ table }))} PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (3), PARTITION b VALUES LESS THAN MAXVALUE)`,
  ],
  'a view': (table) => [schemaOf({ table: `${table}_below` }), viewOf(table)],
  'a generated column': (table) => [
    schemaOf({ table }),
    `ALTER TABLE ${table} ADD label LONGTEXT AS (UPPER(name)) STORED`,
  ],
  'versions of each row': (table) => [`${unended(schemaOf({ table }))} WITH SYSTEM VERSIONING`],
  'periods that are declared': (table) => [
    schemaOf({ table }).replace(
      ') ENGINE',
      ', b TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (b, e)) WITH SYSTEM VERSIONING ENGINE',
    ),
  ],
  'an enum that takes no null': (table) => [
    schemaOf({ table }),
    `ALTER TABLE ${table} ADD kind ENUM('tree', 'shrub') NOT NULL`,
  ],
  'a number of its own': (table) => [
    schemaOf({ table }).replace(' PRIMARY KEY', ' UNIQUE'),
    `ALTER TABLE ${table} ADD no BIGINT AUTO_INCREMENT PRIMARY KEY`,
  ],
  'an id that counts by itself': (table) => [schemaOf({ table }).replace('BIGINT', 'BIGINT AUTO_INCREMENT')],
  'rows that are compressed': (table) => [`${unended(schemaOf({ table }))} ROW_FORMAT = COMPRESSED`],
  'pages that are compressed': (table) => [`${unended(schemaOf({ table }))} PAGE_COMPRESSED = 1`],
  'an id that is decimal': (table) => [schemaOf({ table }).replace('BIGINT', 'DECIMAL(20,0)')],
  'a column of the app in another character set': (table) => [
    schemaOf({ table }),
    `ALTER TABLE ${table} ADD label VARCHAR(9) CHARACTER SET cp1251`,
  ],
  'a column that only a trigger fills': (table) => [
    schemaOf({ table }),
    `ALTER TABLE ${table} ADD label VARCHAR(9) NOT NULL`,
    before(table, "SET new.label = 'fern'"),
  ],
  'a time that the server sets': (table) => [
    schemaOf({ table }),
    `ALTER TABLE ${table} ADD at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP`,
  ],
};

/** What plant-store cannot use; `keys.heavy.ts` has the keys. */
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
  'a column that nobody fills': (table) => [schemaOf({ table }), `ALTER TABLE ${table} ADD n INT NOT NULL`],
  'a trigger that deletes the row': (table) => [
    schemaOf({ table }),
    after(table, `DELETE FROM ${table} WHERE id = new.id`),
  ],
  'a partition for other ids alone': (table) => [
    `${unended(schemaOf({ table }))} PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (0))`,
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
  async function open(statementsOf: StatementsOf): Promise<PeersTable> {
    const table = `peers_${tables++}`;
    for (const statement of statementsOf(table)) await behind().query(statement);
    const peek = async (id: bigint) => {
      const select = `SELECT CAST(id AS CHAR) AS id, name, tag FROM ${table} WHERE id = ${id}`;
      return plantOf((await behind().query<RowDataPacket[]>(select))[0][0]);
    };
    const content = async () => {
      const names = `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('${table}', '${table}_log', '${table}_below')`;
      const [tables] = await behind().query<RowDataPacket[]>(names);
      return Promise.all(tables.map(async ({ name }) => (await behind().query(`SELECT * FROM ${name}`))[0]));
    };
    return { storage: mysqlStorage(pool(), { table, timeoutMs: 10_000 }), table, peek, content };
  }

  it.each(Object.entries(onMariaDb))(
    '%s: check passes; created and taken are true',
    async (_, statementsOf) => {
      const table = await open(statementsOf);
      await expectCheck(table, true);
      await expectTruth(table);
    },
  );

  it.each(Object.entries(refusedByMariaDb))(
    '%s: check says so; no plant is created or taken',
    async (_, statementsOf) => {
      const table = await open(statementsOf);
      await expectCheck(table, false);
      await expectNoPlant(table, [1]);
      await expectNoPlant(table, [2, 3, 4]);
    },
  );

  it('a trigger that numbers plants without a number: the others of its batch keep theirs', async () => {
    const body = 'SET new.id = IF(new.id = 0, 77, new.id)';
    const table = await open((table) => [schemaOf({ table }), before(table, body)]);
    expect(await createTruly(table, [rosa(1), rosa(0), rosa(2)])).toEqual(['created', 'refused', 'created']);
  });

  it.each(phrases)('a trigger that says %s harms no other plant', async (phrase) => {
    const body = `BEGIN IF new.tag = 'fault' THEN SET @text = new.name; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = @text; END IF; END`;
    const { storage } = await open((table) => [schemaOf({ table }), before(table, body)]);
    await expectNoHarm(storage, phrase);
  });

  it.each(['45000', '45001', '22003', '02000'])(
    'a trigger that rejects one plant in ten with SQLSTATE %s costs no login',
    async (state) => {
      const body = `BEGIN IF new.tag = 'fault' THEN SIGNAL SQLSTATE '${state}'; END IF; END`;
      const table = await open((table) => [schemaOf({ table }), before(table, body)]);
      await expectNoLogin(table, async () => {
        const status = await behind().query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Connections'");
        return Number(status[0][0]!.Value);
      });
    },
  );

  it('an error that a trigger raises for one plant harms no other, whatever its number', async () => {
    const table = `peers_${tables++}`;
    await behind().query(schemaOf({ table }));
    const states = ['08S01', '70100', '40001', 'HY000'];
    const branches = states.map((state) => `ELSEIF new.tag = '${state}' THEN SIGNAL SQLSTATE '${state}';`);
    await behind().query(
      before(
        table,
        `BEGIN IF new.tag REGEXP '^[0-9]{3,5}$' AND new.tag <> '70100' AND new.tag <> '40001' THEN
          SET @number = new.tag; SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = @number; ${branches.join(' ')} END IF; END`,
      ),
    );
    await expectOnlyItsPlant({
      open: (options) => mysqlStorage(pool(), { table, ...options }),
      codes: [...errorNumbers.map(String), ...states],
    });
  });

  it('an error that a trigger raises is of its plant, also if a column has no other value than the trigger sets', async () => {
    // As if another table did not exist.
    const raise = `IF new.tag = 'fault' THEN SIGNAL SQLSTATE '42S02' SET MYSQL_ERRNO = 1146; END IF`;
    const table = await open((table) => [
      schemaOf({ table }),
      `ALTER TABLE ${table} ADD label VARCHAR(9) NOT NULL`,
      before(table, `BEGIN SET new.label = 'fern'; ${raise}; END`),
    ]);
    const faulty = { ...rosa(2), tag: 'fault' };
    expect(await createTruly(table, [rosa(1), faulty, rosa(3)])).toEqual(['created', 'refused', 'created']);
  });

  it.each(['FLUSH TABLES WITH READ LOCK', 'LOCK TABLES % READ'])(
    '%s gets few statements, and all plants are stored after it',
    async (lock) => {
      const table = `peers_${tables++}`;
      await behind().query(schemaOf({ table }));
      await expectFewProbes({
        open: (options) => mysqlStorage(pool(), { table, ...options }),
        async lock() {
          const connection = await behind().getConnection();
          await connection.query(lock.replace('%', table));
          return async () => {
            await connection.query('UNLOCK TABLES');
            connection.release();
          };
        },
      });
    },
  );

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
