// What an app puts on the same table of SQLite: triggers, a full-text index, other constraints.
import { type SqliteDatabase, schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { plantOf, withColumns } from '../support/tables.js';
import { context } from './context.js';
import { createTruly } from './faults.js';
import { expectCheck, expectNoPlant, expectTruth, type PeersTable, rosa } from './peers.js';
import {
  changingTheId,
  droppingEachRow,
  furtherOnSqlite,
  onSqlite,
  refusedBySqlite,
} from './peers-sqlite-tables.js';

const usable = { ...onSqlite, ...furtherOnSqlite };

type OpenDatabase = SqliteDatabase & { close(): unknown };

/** Declares what creates are told in a table of SQLite that the app uses, too. */
export function itTellsTheTruthOnSqlite(connect: () => OpenDatabase): void {
  function open(sql: string): PeersTable & { database: OpenDatabase } {
    const database = connect();
    onTestFinished(() => void database.close());
    database.exec(`${sqliteSchema}; ${sql}`);
    const select = "SELECT printf('%d', id) AS id, name, tag FROM plants WHERE id = CAST(? AS INTEGER)";
    const peek = async (id: bigint) =>
      plantOf(database.prepare(select).all(String(id))[0] as Record<string, unknown> | undefined);
    const content = async () => {
      const names = database.prepare(
        "SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_s%'",
      );
      return (names.all() as { name: string }[]).map(({ name }) => [
        name,
        database.prepare(`SELECT count(*) AS n FROM "${name}"`).all(),
      ]);
    };
    const storage = sqliteStorage(database, { timeoutMs: 2_000 });
    return { database, storage, table: 'plants', peek, content };
  }

  it.each(Object.entries(usable))('%s: check passes; created and taken are true', async (_, statements) => {
    const table = open(statements.join(';'));
    await expectCheck(table, true);
    await expectTruth(table);
  });

  it.each(Object.entries(refusedBySqlite))(
    '%s: check says so; no plant is created or taken',
    async (_, statements) => {
      const table = open(statements.join(';'));
      await expectCheck(table, false);
      await expectNoPlant(table, [1]);
      await expectNoPlant(table, [2, 3, 4]);
    },
  );

  it.each(Object.entries(usable))(
    '%s, from a migration while the app runs: created and taken are true',
    async (_, statements) => {
      const { database, ...table } = open('');
      expect(await table.storage.create(rosa(99), context)).toBe('created');
      database.exec(statements.join(';'));
      await expectTruth(table);
    },
  );

  it('a trigger that drops each row: no plant is created or taken', async () => {
    await expectNoPlant(open(droppingEachRow), [1]);
    await expectNoPlant(open(droppingEachRow), [2, 3, 4]);
  });

  it.each([[[1]], [[2, 3, 4]]])(
    'a trigger that changes the id: %j are rejected, and nothing is stored',
    async (ids) => {
      const table = open(changingTheId);
      await expectNoPlant(table, ids);
      await expect(table.storage.create(rosa(1), context)).rejects.toMatchObject({
        name: 'RolledBack',
        cause: {
          message: expect.stringMatching(
            /the table "plants" does not have the plant after its INSERT: .* peer$/,
          ),
        },
      });
      for (const id of ids) expect(await table.peek(BigInt(id + 100))).toBeUndefined();
    },
  );

  it('a trigger that changes one id: the others of its batch are stored', async () => {
    const table = open(changingTheId.replace('WHERE', 'WHERE id = 2 AND'));
    expect(await createTruly(table, [rosa(1), rosa(2), rosa(3)])).toEqual(['created', 'refused', 'created']);
  });

  it('a name that is unique ON CONFLICT IGNORE: its plant is rejected, and the others of its batch are stored', async () => {
    const table = open(
      `DROP TABLE plants; ${withColumns(sqliteSchema, { name: 'TEXT UNIQUE ON CONFLICT IGNORE' })}`,
    );
    const acer = (id: number) => ({ id: BigInt(id), name: 'Acer' });
    expect(await createTruly(table, [rosa(1), acer(2), acer(3)])).toEqual(['created', 'created', 'refused']);
    await expect(table.storage.create(rosa(4), context)).rejects.toThrow(
      /not have the plant .* ON CONFLICT IGNORE$/,
    );
  });

  it('a view with a trigger in place of the INSERT: no plant is created or taken', async () => {
    const sql = `ALTER TABLE plants RENAME TO below; CREATE VIEW plants AS SELECT * FROM below;
      CREATE TRIGGER peer INSTEAD OF INSERT ON plants BEGIN INSERT INTO below VALUES (new.id + 100, new.name, new.tag); END`;
    await expectNoPlant(open(sql), [1]);
    await expectNoPlant(open(sql), [2, 3, 4]);
  });
}
