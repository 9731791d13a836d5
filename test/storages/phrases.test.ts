// What is in a plant, or in the words of its trigger, changes nothing for others: no text of a message decides anything. The phrases
// are those that drivers and databases use, and that plant-store once compared.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { PlantStorage } from 'plant-store';
import { postgresStorage, schemaOf } from 'plant-store/postgres';
import { schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { root } from '../support/root.js';
import { context } from './context.js';
import { ownServer } from './postgres-server.js';

const phrases = [
  'synchronous replication',
  'canceling wait for synchronous replication due to user request',
  'plant-store found a row with another key: 7',
  'a trigger stores the plant under another key',
  'server login has been failing, try again later',
  'query_wait_timeout',
  'Client has encountered a connection error and is not queryable',
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
  'The server does not support SSL connections',
  'Connection terminated unexpectedly',
  'no such table: plants',
  'no such column: id',
  'table plants has no column named tag',
  'ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint',
  'NOT NULL constraint failed: plants.name',
  'near "INSRT": syntax error',
  'cannot start a transaction within a transaction',
  'This database connection is busy executing a query',
  'Pool is closed.',
  "INSERT command denied to user 'me'@'localhost' for table 'plants'",
  'database is locked',
  'database or disk is full',
];

/** Creates plants at once: one with a phrase as its name, one whose trigger raises the phrase, and others. */
async function expectNoHarm(storage: PlantStorage, phrase: string): Promise<void> {
  const plants = [
    { id: 1n, name: 'Rosa' },
    { id: 2n, name: phrase },
    { id: 3n, name: phrase, tag: 'fault' },
    { id: 4n, name: 'Viola' },
  ];
  const outcomes = await Promise.allSettled(plants.map((plant) => storage.create(plant, context)));
  const created = { value: 'created' };
  const rejected = { reason: { name: 'RolledBack' } };
  expect(outcomes).toMatchObject([created, created, rejected, created]);
  await expect(storage.create({ id: 5n, name: phrase, tag: 'fault' }, context)).rejects.toMatchObject(
    rejected.reason,
  );
  expect(await storage.create({ id: 6n, name: 'Ilex' }, context)).toBe('created');
}

describe('PostgreSQL', () => {
  const own = ownServer();
  it.each(phrases)('%s', async (phrase) => {
    await own.pool.query(`DROP TABLE IF EXISTS phrases; ${schemaOf({ table: 'phrases' })};
      CREATE OR REPLACE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE WARNING '%', new.name; IF new.tag = 'fault' THEN RAISE '%', new.name; END IF; RETURN new; END $$;
      CREATE TRIGGER say BEFORE INSERT ON phrases FOR EACH ROW EXECUTE FUNCTION say()`);
    await expectNoHarm(postgresStorage(own.pool, { table: 'phrases' }), phrase);
  });
});

describe('SQLite', () => {
  it.each(phrases)('%s', async (phrase) => {
    const database = new Database(':memory:');
    onTestFinished(() => void database.close());
    database.exec(`${sqliteSchema}; CREATE TRIGGER say BEFORE INSERT ON plants WHEN new.tag = 'fault'
      BEGIN SELECT RAISE(ABORT, '${phrase.replaceAll("'", "''")}'); END`);
    await expectNoHarm(sqliteStorage(database), phrase);
  });
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
