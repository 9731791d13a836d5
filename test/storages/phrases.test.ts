// What is in a plant, or in the words of its trigger, changes nothing for others: no text of a message decides anything.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { postgresStorage, schemaOf } from 'plant-store/postgres';
import { schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { root } from '../support/root.js';
import { expectNoHarm, phrases } from './phrases.js';
import { ownServer } from './postgres-server.js';

const own = ownServer();
const all = phrases.join('; ');

it('PostgreSQL: a plant, or a trigger that rejects it, says what drivers and servers say', async () => {
  await own.pool.query(`${schemaOf({ table: 'phrases' })};
    CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE WARNING '%', new.name; IF new.tag = 'fault' THEN RAISE '%', new.name; END IF; RETURN new; END $$;
    CREATE TRIGGER say BEFORE INSERT ON phrases FOR EACH ROW EXECUTE FUNCTION say()`);
  await expectNoHarm(postgresStorage(own.pool, { table: 'phrases' }), all);
});

it('SQLite: a plant, or a trigger that rejects it, says what drivers and servers say', async () => {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  database.exec(`${sqliteSchema}; CREATE TRIGGER say BEFORE INSERT ON plants WHEN new.tag = 'fault'
    BEGIN SELECT RAISE(ABORT, '${all.replaceAll("'", "''")}'); END`);
  await expectNoHarm(sqliteStorage(database), all);
});

it('no storage compares the text of a message', () => {
  const folder = join(root, 'adapters/storages');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const compares =
    /\bmessage\w*(\(\w+\))?\??\.(includes|startsWith|endsWith|match|search|indexOf)|\.(test|exec)\([^)]*message|\bmessage\w*(\(\w+\))? [!=]==/i;
  const lines = files.flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => compares.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(lines).toEqual([]);
});
