// What only PostgreSQL has: each type of a column of the app is stored exactly, or its create fails.
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresServer } from '../support/postgres.js';

let server: PostgresServer;
let pool: pg.Pool;
beforeAll(async () => {
  server = await PostgresServer.start();
  pool = new pg.Pool({ connectionString: server.url, options: '-c timezone=UTC' });
  await pool.query(
    `CREATE TYPE mood AS ENUM ('shy', 'bold'); CREATE DOMAIN positive AS bigint CHECK (value > 0)`,
  );
});
afterAll(async () => {
  await pool.end();
  await server.close();
});

type Value = string | number | bigint | boolean | Date | null;
let tables = 0;

const contextOf = (caller: Value) => ({
  caller,
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
});

/** Creates a plant for each value in a column of this type; returns the column as text, or the code of the error. */
async function stored(type: string, ...values: Value[]): Promise<unknown[]> {
  const table = `typed ${tables++}`;
  await pool.query(
    `CREATE TABLE "${table}" (id bigint PRIMARY KEY, name text NOT NULL, tag text, "a value" ${type})`,
  );
  const { create } = postgresStorage<Value>(pool, { table, columns: { 'a value': ({ caller }) => caller } });
  const outcomes = await Promise.allSettled(
    values.map((value, id) => create({ id: BigInt(id), name: 'Rosa' }, contextOf(value))),
  );
  const { rows } = await pool.query(`SELECT id::int, "a value"::text AS value FROM "${table}"`);
  return outcomes.map((outcome, id) =>
    outcome.status === 'fulfilled'
      ? rows.find((row) => row.id === id).value
      : (outcome.reason.cause.code ?? outcome.reason.cause.message),
  );
}

const uuid = '6f9619ff-8b86-d011-b42d-00c04fc964ff';
const day = new Date('2026-03-29T01:30:00.250Z');

it.each<[type: string, given: Value[], kept: unknown[]]>([
  ['uuid', [uuid.toUpperCase(), 'no uuid', null], [uuid, '22P02', null]],
  [
    'bigint',
    [2n ** 63n - 1n, -(2n ** 63n), 7, '7', 2n ** 63n, 1.5, true],
    ['9223372036854775807', '-9223372036854775808', '7', '7', '22003', '22P02', '22P02'],
  ],
  ['integer', [7, 2n ** 31n], ['7', '22003']],
  [
    'numeric(30, 4)',
    [2n ** 70n, '12345678901234567890.1234', 0.1],
    ['1180591620717411303424.0000', '12345678901234567890.1234', '0.1000'],
  ],
  ['double precision', [0.1, 5e-324, 1.7976931348623157e308], ['0.1', '5e-324', '1.7976931348623157e+308']],
  [
    'timestamptz',
    [day, '2026-03-29 01:30:00.123456+00'],
    ['2026-03-29 01:30:00.25+00', '2026-03-29 01:30:00.123456+00'],
  ],
  ['date', ['2026-03-29'], ['2026-03-29']],
  ['mood', ['shy', 'tall'], ['shy', '22P02']],
  ['positive', [5n, -5n], ['5', '23514']],
  ['boolean', [true, false, null], ['true', 'false', null]],
  ['inet', ['10.0.0.1'], ['10.0.0.1/32']],
  [
    'text',
    ['{"a",\\}', '', 'NULL', ' x ', '\u{1F339}', 7, true],
    ['{"a",\\}', '', 'NULL', ' x ', '\u{1F339}', '7', 'true'],
  ],
  [
    'varchar(4)',
    ['Rosa', 'Rosa ', 'Viola'],
    ['Rosa', expect.stringMatching(/too long for the column a value/), '22001'],
  ],
  // Each value is the JSON value of its own type: a string is no JSON text.
  [
    'jsonb',
    ['{"a": 1}', 'Rosa', '7', 7, 2n ** 60n, true, null, day],
    [
      '"{\\"a\\": 1}"',
      '"Rosa"',
      '"7"',
      '7',
      '1152921504606846976',
      'true',
      null,
      '"2026-03-29T01:30:00.250Z"',
    ],
  ],
  ['json', ['Rosa', 7], ['"Rosa"', '7']],
  ['text[]', ['{a,b}', 'no array'], ['{a,b}', '22P02']],
])('a column of the type %s stores a value exactly, or rejects it', async (type, given, kept) => {
  expect(await stored(type, ...given)).toEqual(kept);
});

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
