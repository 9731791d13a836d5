// What an app puts on the same table of PostgreSQL: triggers, rules, partitions, views.
import type pg from 'pg';
import { postgresStorage, schemaOf } from 'plant-store/postgres';
import { expect, it } from 'vitest';
import { plantOf } from '../support/tables.js';
import { context } from './context.js';
import { createTruly, type FaultyTable } from './faults.js';
import { expectNoPlant, expectTruth, rosa } from './peers.js';

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
  'a view that checks its rows': (table) => `${schemaOf({ table: `${table} below` })};
    CREATE VIEW "${table}" AS SELECT * FROM "${table} below" WHERE id < 100 WITH CHECK OPTION`,
  'a generated column': (table) => `${schemaOf({ table })};
    ALTER TABLE "${table}" ADD label text GENERATED ALWAYS AS (upper(name)) STORED`,
  'a table that inherits from it': (table) => `${schemaOf({ table })};
    CREATE TABLE "${table} 1" () INHERITS ("${table}"); INSERT INTO "${table} 1" VALUES (1, 'Acer')`,
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
  'a rule that drops each row': (table) => `${schemaOf({ table })};
    CREATE RULE peer AS ON INSERT TO "${table}" DO INSTEAD NOTHING`,
  'a rule for UPDATE': (table) => `${schemaOf({ table })};
    CREATE RULE peer AS ON UPDATE TO "${table}" DO INSTEAD NOTHING`,
  'a view with a trigger in place of the INSERT': (table) => `${schemaOf({ table: `${table} below` })};
    CREATE VIEW "${table}" AS SELECT * FROM "${table} below";
    ${trigger(table, 'INSTEAD OF INSERT', 'RETURN new;')}`,
  'a partition whose trigger changes the id': (table) => `${schemaOf({ table })} PARTITION BY HASH (id);
    CREATE TABLE "${table} 0" PARTITION OF "${table}" FOR VALUES WITH (MODULUS 1, REMAINDER 0);
    ${trigger(`${table} 0`, 'BEFORE INSERT', 'new.id := new.id + 100; RETURN new;')}`,
  'a view of a table whose trigger changes the id': (table) => `${schemaOf({ table: `${table} below` })};
    CREATE VIEW "${table}" AS SELECT * FROM "${table} below";
    ${trigger(`${table} below`, 'BEFORE INSERT', 'new.id := new.id + 100; RETURN new;')}`,
  'a trigger that deletes the row': (table) => `${schemaOf({ table })};
    ${trigger(table, 'AFTER INSERT', `DELETE FROM "${table}" WHERE id = new.id; RETURN NULL;`)}`,
  'a trigger that deletes the row at COMMIT': (table) => `${schemaOf({ table })};
    CREATE FUNCTION "on ${table}"() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN DELETE FROM "${table}" WHERE id = new.id; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER peer AFTER INSERT ON "${table}" DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION "on ${table}"()`,
  'a partition for other ids alone': (table) => `${schemaOf({ table })} PARTITION BY RANGE (id);
    CREATE TABLE "${table} 0" PARTITION OF "${table}" FOR VALUES FROM (100) TO (200)`,
};

/** Declares what creates are told in a table of this PostgreSQL that the app uses, too. */
export function itTellsTheTruthOnPostgres(own: { readonly pool: pg.Pool }): void {
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
          message: expect.stringContaining('neither inserted nor found'),
        },
      });
      expect((await own.pool.query(`SELECT FROM "${table.table}"`)).rows).toEqual([]);
    },
  );

  it('a response that is lost, through a library that puts the statement in each message, is unknown', async () => {
    const { table } = await open(onPostgres['an audit trigger']!);
    const query = async (text: string, values?: unknown[]) => {
      const result = await own.pool.query(text, values);
      if (text.includes('INSERT INTO')) throw new Error(`${text} - Connection terminated unexpectedly`);
      return result;
    };
    const storage = postgresStorage({ query }, { table });
    await expect(storage.create(rosa(1), context)).rejects.toThrow(
      /^WITH .* - Connection terminated unexpectedly$/s,
    );
  });

  it('a trigger that changes the namespace: no plant is created', async () => {
    const options = { table: 'peers of tenants', namespace: { tenant: () => 'garden' } };
    const change = trigger(options.table, 'BEFORE INSERT', "new.tenant := 'park'; RETURN new;");
    await own.pool.query(`${schemaOf(options)}; ${change}`);
    const creating = postgresStorage(own.pool, options).create(rosa(1), context);
    await expect(creating).rejects.toMatchObject({
      cause: { message: expect.stringContaining('neither inserted nor found') },
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
}
