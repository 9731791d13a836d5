// What the database definitely rejected: 50004, or 40004 with the text of the option `refuse`.
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { schemaOf as postgresSchema, postgresStorage } from 'plant-store/postgres';
import { schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { createRequest } from '../support/plants.js';
import { newFile } from '../support/run-folder.js';
import { sqliteKinds } from '../support/sqlite-handles.js';
import { withColumns } from '../support/tables.js';
import { context } from './context.js';
import { connectionOf, inserted } from './mysql-connection.js';
import { ownServer } from './postgres-server.js';

type Refuse = NonNullable<Parameters<typeof sqliteStorage>[1]>['refuse'];

const own = ownServer();

/** MySQL's response to a name that is too long, and to any other plant. */
const tooLong = Object.assign(new Error('from the driver'), { errno: 1406, sqlState: '22001' });
const mysqlConnection = connectionOf((sql, values) => {
  if (/information_schema|^SHOW/.test(sql)) return [];
  if (values.some((value) => String(value).startsWith('nettle'))) throw tooLong;
  return inserted;
});

let tables = 0;
const withoutNettles = { name: "TEXT NOT NULL CHECK (name NOT LIKE 'nettle%')" };
const storages: Record<string, (refuse: Refuse) => Promise<PlantStorage>> = {
  async PostgreSQL(refuse) {
    const table = `plants${tables++}`;
    await own.pool.query(withColumns(postgresSchema({ table }), withoutNettles));
    return postgresStorage(own.pool, { table, refuse });
  },
  ...Object.fromEntries(
    Object.entries(sqliteKinds).map(([kind, { open }]) => [
      `SQLite by ${kind}`,
      async (refuse: Refuse) => {
        const { handle, run } = open(newFile(), {});
        await run(withColumns(sqliteSchema, withoutNettles));
        return sqliteStorage(handle, { refuse });
      },
    ]),
  ),
  MySQL: async (refuse) => mysqlStorage({ getConnection: async () => mysqlConnection }, { refuse }),
};

/** Creates plants through the handler, at once. */
async function post(storage: PlantStorage, names: readonly string[]) {
  const onError = vi.fn();
  const handle = createPlantStore(storage, acceptTokens('secret'), { onError });
  const responses = await Promise.all(
    names.map((name, id) => handle(createRequest('secret', JSON.stringify({ id, name })))),
  );
  return { onError, bodies: responses.map(({ body }) => JSON.parse(body)) };
}

describe.each(Object.entries(storages))('%s', (_, open) => {
  const names = Array.from({ length: 32 }, (_, i) => (i % 8 === 3 ? `nettle ${i}` : `rose ${i}`));
  const nettles = names.filter((name) => name.startsWith('nettle'));

  it('calls refuse once for each rejected plant of a batch, and its text is the 400', async () => {
    const refuse = vi.fn((_error: unknown, { name }: { name: string }) => `no ${name}, please`);
    const { bodies, onError } = await post(await open(refuse), names);
    expect(bodies).toEqual(
      names.map((name) =>
        nettles.includes(name) ? { error: 40004, message: `no ${name}, please` } : { name },
      ),
    );
    expect(refuse.mock.calls.map(([, { name }]) => name).sort()).toEqual([...nettles].sort());
    expect(onError).not.toHaveBeenCalled();
    const rejected = (await open(refuse)).create({ id: 1n, name: 'nettle' }, context);
    await expect(rejected).rejects.toMatchObject({ name: 'PlantRefused', cause: expect.any(Error) });
  });

  it('rejects with 50004 without refuse, and the database error goes to onError', async () => {
    const { bodies, onError } = await post(await open(undefined), ['rose', 'nettle']);
    expect(bodies).toMatchObject([{ name: 'rose' }, { error: 50004 }]);
    expect(onError.mock.calls).toMatchObject([
      [{ name: 'RolledBack', cause: expect.any(Error) }, expect.anything(), 50004],
    ]);
  });

  it.each<[string, () => unknown, unknown]>([
    ['returns undefined', () => undefined, /./],
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
      /a bug/,
    ],
    ['is async', async () => 'late', /refuse must return a string/],
    ['rejects', () => Promise.reject(new Error('late')), /refuse must return a string/],
    ['returns null', () => null, /refuse must return a string/],
    ['returns a number', () => 7, /refuse must return a string/],
  ])('rejects with 50004 if refuse %s', async (_how, refuse, why) => {
    const { bodies, onError } = await post(await open(refuse as Refuse), ['nettle', 'rose']);
    expect(bodies).toMatchObject([{ error: 50004 }, { name: 'rose' }]);
    expect(onError).toHaveBeenCalledTimes(1);
    expect(String(onError.mock.calls[0]?.[0].cause)).toMatch(why as RegExp);
  });

  it('uses its own sentence if refuse returns an empty text', async () => {
    const { bodies } = await post(await open(() => ''), ['nettle']);
    expect(bodies).toMatchObject([{ error: 40004, message: expect.stringMatching(/\w/) }]);
  });
});

it('is never called for a statement that took too long, or for an unknown outcome', async () => {
  const refuse = vi.fn(() => 'no');
  for (const code of ['57014', '08006', '57P01']) {
    const query = async (text: string) => {
      if (!text.startsWith('INSERT')) return { rows: [] };
      throw Object.assign(new Error(code), { code });
    };
    await post(postgresStorage({ query }, { refuse, timeoutMs: 200 }), ['rose']);
  }
  expect(refuse).not.toHaveBeenCalled();
});
