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

/** An empty database, and what the app does on the connection of the storage. */
export interface PeersDatabase {
  readonly storage: PeersTable['storage'];
  readonly run: (sql: string) => unknown;
  readonly rows: (sql: string) => Promise<readonly unknown[]> | readonly unknown[];
  readonly close: () => unknown;
}

/** A database of a driver that blocks. */
export function peersDatabase(database: SqliteDatabase & { close(): unknown }): PeersDatabase {
  return {
    storage: sqliteStorage(database, { timeoutMs: 2_000 }),
    run: (sql) => database.exec(sql),
    rows: (sql) => database.prepare(sql).all(),
    close: () => database.close(),
  };
}

/**
 * Declares what creates are told in a table of SQLite that the app uses, too.
 *
 * @param isPossible whether the database has what these statements put beside the table
 */
export function itTellsTheTruthOnSqlite(
  connect: () => PeersDatabase,
  isPossible: (sql: string) => boolean = () => true,
): void {
  const tablesOf = (tables: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(tables).filter(([, statements]) => isPossible(statements.join(';')));
  const usable = tablesOf({ ...onSqlite, ...furtherOnSqlite });

  async function open(sql: string): Promise<PeersTable & PeersDatabase> {
    const database = connect();
    onTestFinished(() => void database.close());
    await database.run(`${sqliteSchema}; ${sql}`);
    const peek = async (id: bigint) => {
      const select = `SELECT printf('%d', id) AS id, name, tag FROM plants WHERE id = ${id}`;
      return plantOf((await database.rows(select))[0] as Record<string, unknown> | undefined);
    };
    const content = async () => {
      const names = await database.rows(
        "SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_s%'",
      );
      const counts: unknown[] = [];
      for (const { name } of names as { name: string }[])
        counts.push([name, await database.rows(`SELECT count(*) AS n FROM "${name}"`)]);
      return counts;
    };
    return { ...database, table: 'plants', peek, content };
  }

  it.each(usable)('%s: check passes; created and taken are true', async (_, statements) => {
    const table = await open(statements.join(';'));
    await expectCheck(table, true);
    await expectTruth(table);
  });

  it.each(tablesOf(refusedBySqlite))(
    '%s: check says so; no plant is created or taken',
    async (_, statements) => {
      const table = await open(statements.join(';'));
      await expectCheck(table, false);
      await expectNoPlant(table, [1]);
      await expectNoPlant(table, [2, 3, 4]);
    },
  );

  it.each(usable)(
    '%s, from a migration while the app runs: created and taken are true',
    async (_, statements) => {
      const table = await open('');
      expect(await table.storage.create(rosa(99), context)).toBe('created');
      await table.run(statements.join(';'));
      await expectTruth(table);
    },
  );

  it('a trigger that drops each row: no plant is created or taken', async () => {
    await expectNoPlant(await open(droppingEachRow), [1]);
    await expectNoPlant(await open(droppingEachRow), [2, 3, 4]);
  });

  it.each([[[1]], [[2, 3, 4]]])(
    'a trigger that changes the id: %j are rejected, and nothing is stored',
    async (ids) => {
      const table = await open(changingTheId);
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
    const table = await open(changingTheId.replace('WHERE', 'WHERE id = 2 AND'));
    expect(await createTruly(table, [rosa(1), rosa(2), rosa(3)])).toEqual(['created', 'refused', 'created']);
  });

  it('a name that is unique ON CONFLICT IGNORE: its plant is rejected, and the others of its batch are stored', async () => {
    const table = await open(
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
    await expectNoPlant(await open(sql), [1]);
    await expectNoPlant(await open(sql), [2, 3, 4]);
  });
}
