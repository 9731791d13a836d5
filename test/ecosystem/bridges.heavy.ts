// The tables of libraries on the page of recipes: each line, as it stands there, on a real database.
import { createPool, type Pool } from 'mysql2/promise';
import type { PlantStorage } from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { storageCases } from 'plant-store/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type MariaDb, oneMariaDb } from '../programs/cluster/galera.js';
import { clean } from '../programs/cluster/machine.js';
import { context, contextOf } from '../storages/context.js';
import { faultyPostgres, faultySqlite } from '../storages/fault-databases.js';
import { faultyMariaDb, mariaDbObstacle } from '../storages/fault-mariadb.js';
import { type FaultyDatabase, itSurvivesFaults, openFaulty } from '../storages/faults.js';
import { expectNoPlant, expectTruth } from '../storages/peers.js';
import { ownServer } from '../storages/postgres-server.js';
import { Doorway } from '../support/doorway.js';
import { describeUnless } from '../support/obstacle.js';
import { onMysql } from './libraries-mysql.js';
import { onPostgres } from './libraries-postgres.js';
import { notBridges, obstacleOf, onSqlite, type SqliteLibrary } from './libraries-sqlite.js';
import { evaluate, type Library, pageRows } from './page-rows.js';

/** Declares what each row promises. */
function itKeepsItsPromises(database: FaultyDatabase): void {
  const open = () => openFaulty(database);
  for (const { id, name, run } of storageCases(open)) it(`${id}: ${name}`, run);

  itSurvivesFaults(database);
}

/** What an old version reports untruly. */
const untrueOf: Readonly<Record<string, readonly string[]>> = {
  // It drops the error of a COMMIT: the outcome is unknown.
  'postgres.js, 3.0': ['a constraint that fails at COMMIT: its plant is refused, and the others are stored'],
};

/** The code of a row, or of the row whose old version or option this is. */
const lineOf = (name: string, lines: ReadonlyMap<string, string>) =>
  lines.get(name) ?? lines.get(name.split(', ')[0]!)!;

describe('PostgreSQL', () => {
  const own = ownServer({ deadlock_timeout: '100ms' });
  const lines = pageRows('Libraries on PostgreSQL');
  let doorway: Doorway;
  beforeAll(async () => {
    doorway = await Doorway.before({ path: own.server.socket });
    return () => doorway.close();
  });

  it('each row is tested', () => {
    expect(new Set(Object.keys(onPostgres).filter((name) => lines.has(name)))).toEqual(
      // On Bun `storages/faults.test.ts` tests its row.
      new Set([...lines.keys()].filter((name) => name !== 'Bun.sql')),
    );
  });

  describe.each(Object.entries(onPostgres))('%s', (name, open) => {
    let library: Library;
    beforeAll(async () => {
      const { port } = doorway;
      library = await open({ port, url: `postgres://postgres@127.0.0.1:${port}/postgres` });
      return () => library.close();
    });
    const line = lineOf(name, lines);
    const storageOf = (options: object) => {
      const make = (pool: never) => postgresStorage(pool, options);
      return evaluate(line, { ...library.scope, postgresStorage: make }) as ReturnType<
        typeof postgresStorage
      >;
    };

    it('creates its table', async () => {
      const storage = storageOf({ table: `made by ${name.replaceAll('.', ' ')}` });
      await storage.createTable();
      await storage.check();
      expect(await storage.create({ id: 2n ** 63n - 1n, name: 'Rosa' }, context)).toBe('created');
    });
    const database = faultyPostgres(
      () => own.pool,
      () => doorway,
      storageOf,
    );
    itKeepsItsPromises({ ...database, untrue: untrueOf[name] ?? [] });
  });
});

describeUnless(mariaDbObstacle, 'MariaDB', () => {
  const lines = pageRows('Libraries on MySQL and MariaDB');
  let server: MariaDb;
  let doorway: Doorway;
  let behind: Pool;
  beforeAll(async () => {
    server = await oneMariaDb();
    doorway = await Doorway.before({ host: server.address, port: server.port });
    behind = createPool(server.url);
    return async () => {
      await behind.end();
      doorway.close();
      await clean([server.daemon], server.daemon.folder);
    };
  });

  it('each row is tested', () => {
    expect(new Set(Object.keys(onMysql).filter((name) => lines.has(name)))).toEqual(new Set(lines.keys()));
  });

  describe.each(Object.entries(onMysql))('%s', (name, { open, isOwn = false }) => {
    let library: Library;
    beforeAll(async () => {
      library = await open(server.url.replace(String(server.port), String(doorway.port)));
      return () => library.close();
    });
    const storageOf = (options: object) => {
      const make = (pool: never) => mysqlStorage(pool, options);
      return evaluate(lineOf(name, lines), { ...library.scope, mysqlStorage: make }) as PlantStorage;
    };
    const database = faultyMariaDb(
      () => behind,
      () => doorway,
      storageOf,
      !isOwn,
    );
    itKeepsItsPromises(database);

    it.each([
      'CREATE TRIGGER peer AFTER INSERT ON plants FOR EACH ROW INSERT INTO log VALUES (new.id)',
      'CREATE TRIGGER peer BEFORE INSERT ON plants FOR EACH ROW INSERT INTO log VALUES (new.id)',
      'ALTER TABLE plants PARTITION BY HASH (id) PARTITIONS 2',
      'ALTER TABLE plants PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (3), PARTITION b VALUES LESS THAN MAXVALUE)',
    ])('tells the truth beside what the app has on the table: %s', async (peer) => {
      const table = await database.open(10_000);
      await database.run('CREATE TABLE IF NOT EXISTS log (id BIGINT)', peer);
      await expectTruth(table);
    });

    // The storage of its own is one INSERT, which does not show it.
    it.skipIf(isOwn)('returns created for no plant that a trigger stores under another id', async () => {
      const table = await database.open(10_000);
      await database.run(
        'CREATE TRIGGER peer BEFORE INSERT ON plants FOR EACH ROW SET NEW.id = NEW.id + 100',
      );
      await expectNoPlant(table, [1]);
      await expectNoPlant(table, [2, 3, 4]);
    });

    it.skipIf(isOwn)(
      'returns created for no plant that a trigger behind a view stores under another id',
      async () => {
        const table = await database.open(10_000);
        await database.run(
          'RENAME TABLE plants TO base',
          'CREATE TRIGGER behind BEFORE INSERT ON base FOR EACH ROW SET NEW.id = NEW.id + 100',
          'CREATE VIEW plants AS SELECT * FROM base',
        );
        await expectNoPlant(table, [1]);
        await expectNoPlant(table, [2, 3, 4]);
        await database.run('DROP VIEW plants', 'DROP TABLE base');
      },
    );
  });
});

describe('SQLite', async () => {
  const lines = pageRows('Libraries on SQLite');

  it('each row is tested', () => {
    const rows = new Set([...lines.keys()].filter((name) => !notBridges.has(name)));
    expect(new Set(Object.keys(onSqlite).filter((name) => lines.has(name)))).toEqual(rows);
  });

  for (const [name, { open, isApart = false }] of Object.entries(onSqlite)) {
    // Also with CI set: no machine of this project can have that driver.
    const obstacle = await obstacleOf(name);
    const title = obstacle ? `${name} (skipped: ${obstacle})` : name;
    describe.skipIf(obstacle)(title, () => {
      let library: SqliteLibrary;
      beforeAll(async () => {
        library = await open();
        return () => library.close();
      });
      const storage = (timeoutMs: number) => {
        const make = (handle: never) => sqliteStorage(handle, { timeoutMs });
        const scope = { sqliteStorage: make, ...library.scope };
        return evaluate(lineOf(name, lines), scope) as PlantStorage;
      };
      const faulty = faultySqlite(() => library.behind, storage, { isApart, isPrecise: true });
      const isServer = /HTTP|serverless/.test(name);
      const database = { ...faulty, ...(isServer && { doorway: () => library.doorway! }) };
      itKeepsItsPromises(database);

      // In workerd the storage is another, without columns of the app.
      const isHere = !/D1|Durable/.test(name);
      if (isHere)
        it('keeps each int64 of a column of the app exactly', async () => {
          const numbers = [-(2n ** 63n), -(2n ** 53n) - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n];
          await database.run(
            'CREATE TABLE numbers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT, n INTEGER, untyped)',
          );
          const value = ({ caller }: { caller: bigint }) => caller;
          const options = { table: 'numbers', columns: { n: value, untyped: value } };
          const { create } = evaluate(lineOf(name, lines), {
            ...library.scope,
            sqliteStorage: (handle: never) => sqliteStorage(handle, options),
          }) as PlantStorage<bigint>;
          for (const [id, number] of numbers.entries())
            expect(await create({ id: BigInt(id), name: 'Rosa' }, contextOf(number))).toBe('created');
          const select =
            "SELECT typeof(n) || ' ' || typeof(untyped) || ' ' || n AS read FROM numbers ORDER BY id";
          const read = (await library.behind.rows(select)) as { read: string }[];
          expect(read.map(({ read }) => read)).toEqual(numbers.map((number) => `integer integer ${number}`));
        });

      it('tells the truth beside a trigger, whose rows some drivers count', async () => {
        const table = await database.open(10_000);
        await database.run(
          'CREATE TABLE IF NOT EXISTS log (id INTEGER)',
          'CREATE TRIGGER peer AFTER INSERT ON plants BEGIN INSERT INTO log VALUES (new.id); END',
          'CREATE TRIGGER other BEFORE INSERT ON plants BEGIN INSERT INTO log VALUES (new.id); END',
        );
        await expectTruth(table);
      });
    });
  }
});
