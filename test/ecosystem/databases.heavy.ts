// The recipes for Drizzle, Kysely and Knex, each on a real database.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  examplePostgres,
  exampleUrl,
  itKeepsThePromises,
  runExamplesHere,
  type StorageExample,
} from '../examples/recipe.js';
import { context } from '../storages/context.js';
import { onPostgres } from '../storages/on-postgres.js';
import { itStoresOwnColumns } from '../storages/own-columns.js';
import { ownServer } from '../storages/postgres-server.js';
import { type Any, importExample, load } from '../support/installed.js';
import { newFolder } from '../support/run-folder.js';

const { default: knex } = await load('knex');
runExamplesHere();

describe('PostgreSQL', () => {
  const { empty } = examplePostgres();

  describe.each([
    ['drizzle', '/api'],
    ['kysely', ''],
    ['knex', ''],
  ])('with %s', (name, mount) => {
    let example: StorageExample;
    beforeAll(async () => {
      example = await importExample(name);
    });

    itKeepsThePromises(() => example, empty, { mount });
  });

  it('the app of drizzle finds a plant by its own GET, its id exact, and only for a token', async () => {
    const { storage, ...example } = await importExample('drizzle');
    await empty();
    await storage.create({ id: 9007199254740993n, name: 'Ilex' }, context);
    const url = `${await exampleUrl(example)}/api/plants`;
    const get = async (id: string, authorization = 'Bearer secret') => {
      const response = await fetch(`${url}/${id}`, { headers: { authorization } });
      return [response.status, await response.json()];
    };
    expect(await get('9007199254740993')).toEqual([200, { id: '9007199254740993', name: 'Ilex' }]);
    expect(await get('9007199254740993?verbose=1')).toMatchObject([200, { name: 'Ilex' }]);
    for (const free of ['9007199254740992', '-9223372036854775808', '9223372036854775807'])
      expect(await get(free)).toMatchObject([404, { error: 1404 }]);
    for (const bad of ['rose', '1.5', '1e3', '9223372036854775808', '-9223372036854775809', '1'.repeat(400)])
      expect([bad, ...(await get(bad))]).toEqual([bad, 400, expect.objectContaining({ error: 1400 })]);
    expect(await get('9007199254740993', 'Bearer wrong')).toMatchObject([401, { error: 40102 }]);
    expect(await get('rose', '')).toMatchObject([401, { error: 40101 }]);
  });
});

describe('drizzle-sqlite', () => {
  let example: StorageExample;
  const DATABASE = join(newFolder(), 'plants.db');

  beforeAll(async () => {
    process.env.DATABASE = DATABASE;
    example = await importExample('drizzle-sqlite');
  });
  const empty = async () => {
    // The copy that the program has: two copies of SQLite in one process do not see each other's locks.
    const { default: Database } = await load('libsql');
    const database = new Database(DATABASE);
    database.exec('DELETE FROM plants');
    database.close();
  };

  itKeepsThePromises(() => example, empty);
});

describe('namespace and columns through Knex', () => {
  const own = ownServer({});
  let database: Any;
  beforeAll(() => {
    database = knex({ client: 'pg', connection: own.server.url });
  });
  afterAll(() => database.destroy());
  const query = (text: string, values: never[] = []) => database.raw(text.replace(/\$\d+/g, '?'), values);
  // Knex takes these for placeholders, in names too.
  const bad = ['?', '$1', ':x'];
  itStoresOwnColumns(
    () => onPostgres({ query }),
    (name) => !bad.includes(name),
  );
});
