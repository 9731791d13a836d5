// What an app puts on the same table: triggers, rules, partitions, views. What each create is told is true, or the table is refused by name.
import Database from 'libsql';
import { postgresStorage, schemaOf } from 'plant-store/postgres';
import { schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { plantOf } from '../support/tables.js';
import { context } from './context.js';
import { createTruly, type FaultyTable } from './faults.js';
import { expectNoPlant, expectTruth } from './peers.js';
import { ownServer } from './postgres-server.js';

const rosa = (id: number) => ({ id: BigInt(id), name: 'Rosa' });

const logOf = (table: string) => `"log of ${table}"`;

const trigger = (table: string, when: string, body: string) => `
  CREATE FUNCTION "on ${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
  CREATE TRIGGER peer ${when} ON "${table}" FOR EACH ROW EXECUTE FUNCTION "on ${table}"()`;

const onPostgres: Record<string, (table: string) => string> = {
  'an audit trigger': (table) => `${schemaOf({ table })}; CREATE TABLE ${logOf(table)} (id bigint, name text);
    ${trigger(table, 'AFTER INSERT', `INSERT INTO ${logOf(table)} VALUES (new.id, new.name); RETURN NULL;`)}`,
  'a trigger that counts before each row': (table) => `${schemaOf({ table })};
    CREATE TABLE ${logOf(table)} (n bigint); INSERT INTO ${logOf(table)} VALUES (0);
    ${trigger(table, 'BEFORE INSERT', `UPDATE ${logOf(table)} SET n = n + 1; RETURN new;`)}`,
  'partitions by hash': (table) => `${schemaOf({ table })} PARTITION BY HASH (id);
    CREATE TABLE "${table} 0" PARTITION OF "${table}" FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE "${table} 1" PARTITION OF "${table}" FOR VALUES WITH (MODULUS 2, REMAINDER 1)`,
  'partitions by range': (table) => `${schemaOf({ table })} PARTITION BY RANGE (id);
    CREATE TABLE "${table} 0" PARTITION OF "${table}" FOR VALUES FROM (MINVALUE) TO (3);
    CREATE TABLE "${table} 1" PARTITION OF "${table}" FOR VALUES FROM (3) TO (MAXVALUE)`,
  'a view': (table) => `${schemaOf({ table: `${table} below` })};
    CREATE VIEW "${table}" AS SELECT * FROM "${table} below"`,
};

/** What plant-store cannot use. */
const refusedByPostgres: Record<string, (table: string) => string> = {
  'a trigger that drops each row': (table) => `${schemaOf({ table })};
    ${trigger(table, 'BEFORE INSERT', 'RETURN NULL;')}`,
  'a rule that logs each row': (table) => `${schemaOf({ table })}; CREATE TABLE ${logOf(table)} (name text);
    CREATE RULE peer AS ON INSERT TO "${table}" DO ALSO INSERT INTO ${logOf(table)} VALUES (new.name)`,
  'a rule that inserts elsewhere': (
    table,
  ) => `${schemaOf({ table })}; ${schemaOf({ table: `${table} below` })};
    CREATE RULE peer AS ON INSERT TO "${table}" DO INSTEAD INSERT INTO "${table} below" VALUES (new.*)`,
};

describe('on PostgreSQL', () => {
  const own = ownServer();
  let tables = 0;
  async function open(sqlOf: (table: string) => string): Promise<FaultyTable> {
    const table = `peers ${tables++}`;
    await own.pool.query(sqlOf(table));
    const peek = async (id: bigint) =>
      plantOf((await own.pool.query(`SELECT * FROM "${table}" WHERE id = ${id}`)).rows[0]);
    return { storage: postgresStorage(own.pool, { table, timeoutMs: 2_000 }), table, peek };
  }

  it.each(Object.entries(onPostgres))('%s: created and taken are true', async (_, sqlOf) => {
    await expectTruth(await open(sqlOf));
  });

  it.each(Object.entries(refusedByPostgres))('%s: no plant is created or taken', async (_, sqlOf) => {
    const table = await open(sqlOf);
    await expectNoPlant(table, [1]);
    await expectNoPlant(table, [2, 3, 4]);
  });

  const changingTheId = (table: string) => `${schemaOf({ table })};
    ${trigger(table, 'BEFORE INSERT', 'new.id := new.id + 100; RETURN new;')}`;

  it.each([[[1]], [[2, 3, 4]]])(
    'a trigger that changes the id: %j are rejected, and nothing is stored',
    async (ids) => {
      const table = await open(changingTheId);
      await expectNoPlant(table, ids);
      const creating = table.storage.create(rosa(1), context);
      await expect(creating).rejects.toMatchObject({
        name: 'RolledBack',
        cause: {
          message: expect.stringMatching(
            /would store the plant under another key, 101: its trigger peer changes it/,
          ),
        },
      });
      expect((await own.pool.query(`SELECT FROM "${table.table}"`)).rows).toEqual([]);
    },
  );

  it('a trigger that changes the namespace: no plant is created', async () => {
    const options = { table: 'peers of tenants', namespace: { tenant: () => 'garden' } };
    const change = trigger(options.table, 'BEFORE INSERT', "new.tenant := 'park'; RETURN new;");
    await own.pool.query(`${schemaOf(options)}; ${change}`);
    const creating = postgresStorage(own.pool, options).create(rosa(1), context);
    await expect(creating).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/under another key, \(park,1\): its trigger peer/) },
    });
  });

  it('a trigger that numbers plants without a number: the others of its batch keep theirs', async () => {
    const table = await open(
      (table) => `${schemaOf({ table })};
        ${trigger(table, 'BEFORE INSERT', 'IF new.id = 0 THEN new.id := 77; END IF; RETURN new;')}`,
    );
    expect(await createTruly(table, [rosa(1), rosa(0), rosa(2)])).toEqual(['created', 'refused', 'created']);
  });

  it.each([[[1]], [[2, 3, 4]]])(
    'a trigger that changes the id of a stored row: %j are not created',
    async (ids) => {
      const table = await open(
        (table) => `${schemaOf({ table })};
          ${trigger(table, 'AFTER INSERT', `UPDATE "${table}" SET id = id + 100 WHERE id = new.id; RETURN NULL;`)}`,
      );
      await expectNoPlant(table, ids);
      await expectNoPlant(table, [9]);
    },
  );
});

const onSqlite: Record<string, string> = {
  'an audit trigger': `CREATE TABLE log (id INTEGER, name TEXT);
    CREATE TRIGGER peer AFTER INSERT ON plants BEGIN INSERT INTO log VALUES (new.id, new.name); END`,
  'a full-text index (FTS5)': `CREATE VIRTUAL TABLE texts USING fts5 (name, content=plants, content_rowid=id);
    CREATE TRIGGER peer AFTER INSERT ON plants BEGIN INSERT INTO texts (rowid, name) VALUES (new.id, new.name); END`,
  'a trigger that counts before each row': `CREATE TABLE counter (n INTEGER); INSERT INTO counter VALUES (0);
    CREATE TRIGGER peer BEFORE INSERT ON plants BEGIN UPDATE counter SET n = n + 1; END`,
};

const droppingEachRow = 'CREATE TRIGGER peer BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END';
const changingTheId =
  'CREATE TRIGGER peer AFTER INSERT ON plants BEGIN UPDATE plants SET id = new.id + 100 WHERE id = new.id; END';

describe('on SQLite', () => {
  function open(sql: string): FaultyTable {
    const database = new Database(':memory:');
    onTestFinished(() => void database.close());
    database.exec(`${sqliteSchema}; ${sql}`);
    const select = database.prepare("SELECT printf('%d', id) AS id, name, tag FROM plants WHERE id = ?");
    const peek = async (id: bigint) => plantOf(select.get(id) as Record<string, unknown> | undefined);
    return { storage: sqliteStorage(database, { timeoutMs: 2_000 }), table: 'plants', peek };
  }

  it.each(Object.entries(onSqlite))('%s: created and taken are true', async (_, sql) => {
    await expectTruth(open(sql));
  });

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
          message: expect.stringMatching(/the table "plants" has no plant 1 after its INSERT: .* peer$/),
        },
      });
      for (const id of ids) expect(await table.peek(BigInt(id + 100))).toBeUndefined();
    },
  );

  it('a trigger that changes one id: the others of its batch are stored', async () => {
    const table = open(changingTheId.replace('WHERE', 'WHERE id = 2 AND'));
    expect(await createTruly(table, [rosa(1), rosa(2), rosa(3)])).toEqual(['created', 'refused', 'created']);
  });
});
