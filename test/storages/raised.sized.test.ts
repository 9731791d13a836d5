import { postgresStorage, schemaOf } from 'plant-store/postgres';
import { schema, sqliteStorage } from 'plant-store/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isHeavy } from '../support/heavy.js';
import { newFile } from '../support/run-folder.js';
import { sqliteKinds } from '../support/sqlite-handles.js';
import { ownServer } from './postgres-server.js';
import { expectOnlyItsPlant, sqlStates } from './raised.js';

const own = ownServer();

/** All in the heavy run; else the first of each class. */
const codes = isHeavy
  ? sqlStates
  : sqlStates.filter((code) => code === sqlStates.find((first) => first.startsWith(code.slice(0, 2))));

describe('an error that a trigger raises for one plant harms no other, whatever its code', () => {
  it.each(isHeavy ? ['BEFORE', 'AFTER'] : ['AFTER'])('on PostgreSQL, %s the INSERT', async (when) => {
    const table = `raised ${when}`;
    await own.pool.query(`${schemaOf({ table })};
      CREATE FUNCTION "${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF new.tag IS NOT NULL THEN RAISE 'no' USING ERRCODE = new.tag; END IF; RETURN new; END $$;
      CREATE TRIGGER peer ${when} INSERT ON "${table}" FOR EACH ROW EXECUTE FUNCTION "${table}"()`);
    const pool = own.poolOf({ max: 1 });
    let logins = 0;
    pool.on('connect', () => logins++);
    await expectOnlyItsPlant({
      open: (options) => postgresStorage(pool, { table, ...options }),
      codes,
    });
    // Not a login for each retry: one at most, if such a plant times out while it is sent.
    expect(logins).toBeLessThan(codes.length);
  });

  const raises = ['ABORT', 'FAIL', 'ROLLBACK'].map(
    (how) => `SELECT RAISE(${how}, 'no') WHERE new.tag = '${how}';`,
  );
  const onSqlite = `${schema}; CREATE TABLE log (id INTEGER NOT NULL UNIQUE);
      CREATE TRIGGER peer AFTER INSERT ON plants WHEN new.tag IS NOT NULL BEGIN ${raises.join(' ')}
        INSERT INTO log SELECT NULL WHERE new.tag = 'NOTNULL'; INSERT INTO log SELECT 1 WHERE new.tag = 'ONCE'; END`;

  it.each(Object.entries(sqliteKinds))('on SQLite, by %s', async (_, { open }) => {
    const { handle, run, close } = open(newFile(), {});
    onTestFinished(close);
    await run(onSqlite);
    await expectOnlyItsPlant({
      // A busy machine may take more than a second for the steps of a driver that does not block.
      open: (options) => sqliteStorage(handle, { ...options, timeoutMs: 10_000 }),
      codes: ['ABORT', 'FAIL', 'ROLLBACK', 'NOTNULL'],
    });
  });
});
