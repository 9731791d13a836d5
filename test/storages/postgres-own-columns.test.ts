// What only PostgreSQL has: columns that it generates, indexes, long names and grants by column.
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresServer } from '../support/postgres.js';

let server: PostgresServer;
let pool: pg.Pool;
beforeAll(async () => {
  server = await PostgresServer.start();
  pool = new pg.Pool({ connectionString: server.url, options: '-c timezone=UTC' });
});
afterAll(async () => {
  await pool.end();
  await server.close();
});

const contextOf = (caller: unknown) => ({
  caller,
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
});

const uuid = '6f9619ff-8b86-d011-b42d-00c04fc964ff';

describe('a column that no option names', () => {
  it('gets its default, its identity, or what generates it', async () => {
    await pool.query(`CREATE TABLE generous (tenant uuid, id bigint, name text NOT NULL, tag text,
      seq bigint GENERATED ALWAYS AS IDENTITY, upper text GENERATED ALWAYS AS (upper(name)) STORED,
      state text NOT NULL DEFAULT 'new', PRIMARY KEY (tenant, id))`);
    const { create } = postgresStorage(pool, { table: 'generous', namespace: { tenant: () => uuid } });
    await Promise.all([2n, 1n].map((id) => create({ id, name: `plant ${id}` }, contextOf(null))));
    const { rows } = await pool.query('SELECT id::int, seq::int, upper, state FROM generous ORDER BY id');
    expect(rows).toEqual([
      { id: 1, seq: 1, upper: 'PLANT 1', state: 'new' },
      { id: 2, seq: 2, upper: 'PLANT 2', state: 'new' },
    ]);
  });

  it.each(['seq', 'upper'])('cannot be an option if PostgreSQL generates its values: %s', async (column) => {
    const { create } = postgresStorage(pool, {
      table: 'generous',
      namespace: { tenant: () => uuid },
      columns: { [column]: () => '9' },
    });
    await expect(create({ id: 9n, name: 'Rosa' }, contextOf(null))).rejects.toMatchObject({
      cause: { code: '428C9' },
    });
  });
});

it('postgresStorage finds the plants of a batch by an index, also in a large table', async () => {
  await pool.query(`CREATE TABLE large (tenant uuid, id bigint, name text NOT NULL, tag text, PRIMARY KEY (tenant, id));
    INSERT INTO large SELECT '${uuid}', id, 'Rosa' FROM generate_series(1, 20000) AS id; ANALYZE large`);
  const statements: [string, unknown[]][] = [];
  const watched = {
    query(text: string, values: unknown[] = []) {
      statements.push([text, values]);
      return pool.query(text, values);
    },
  };
  const { create } = postgresStorage(watched, { table: 'large', namespace: { tenant: () => uuid } });
  await Promise.all([1n, 2n, 3n].map((id) => create({ id, name: 'Rosa' }, contextOf(null))));
  const [text, values] = statements.at(-1)!;
  const { rows } = await pool.query(`EXPLAIN ${text}`, values);
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/Index (Only )?Scan/);
});

it.each(['n'.repeat(64), '\u{e9}'.repeat(32)])(
  'postgresStorage throws for the column %j, whose name PostgreSQL would cut',
  (name) => {
    for (const options of [{ namespace: { [name]: () => 'x' } }, { columns: { [name]: () => 'x' } }]) {
      expect(() => postgresStorage(pool, options)).toThrow(/a column must be a name of at most 63 bytes/);
    }
  },
);

it('postgresStorage needs no more than the grants that adapters/README.md names, by column', async () => {
  await pool.query(`CREATE TABLE granted (tenant text, id bigint, name text NOT NULL, tag text, who text, secret text,
      PRIMARY KEY (tenant, id));
    CREATE ROLE gardener LOGIN;
    GRANT SELECT (tenant, id, name, tag), INSERT (tenant, id, name, tag, who) ON granted TO gardener`);
  const gardeners = new pg.Pool({ connectionString: server.url.replace('postgres@', 'gardener@') });
  const storage = postgresStorage(gardeners, {
    table: 'granted',
    namespace: { tenant: () => 'garden' },
    columns: { who: () => 'me' },
  });
  const createAll = () =>
    Promise.all([1n, 2n].map((id) => storage.create({ id, name: 'Rosa' }, contextOf(null))));
  expect(await createAll()).toEqual(['created', 'created']);
  expect(await createAll()).toEqual(['taken', 'taken']);
  expect(await storage.find(1n, contextOf(null))).toMatchObject({ name: 'Rosa' });
  await gardeners.end();
});
