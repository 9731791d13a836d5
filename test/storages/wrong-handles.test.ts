// Objects that are no pool and no database: each is told at once, by what came and what to pass instead. None looks like an outage,
// none waits, and none ends the process.
import Database from 'libsql';
import { createPoolCluster as createCallbackCluster, createPool as createCallbackPool } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import postgres from 'postgres';
import { describe, expect, it, vi } from 'vitest';
import { context } from './context.js';

/** An object with the methods that a library documents. */
const withMethods = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, async () => [] as unknown[]]));

const storages = { postgresStorage, mysqlStorage, sqliteStorage };

/** Objects of libraries that people pass by mistake. */
const libraries: Record<string, unknown> = {
  "TypeORM's DataSource": withMethods('query', 'getRepository', 'createQueryRunner', 'initialize'),
  "TypeORM's EntityManager": withMethods('query', 'getRepository', 'findOneBy'),
  "pg-promise's db": withMethods('query', 'oneOrNone', 'task'),
  'a Sequelize': withMethods('query', 'getQueryInterface', 'authenticate'),
  'a slonik pool': withMethods('query', 'connect', 'maybeOne', 'anyFirst'),
  'a Kysely': withMethods('selectFrom', 'executeQuery'),
  "Drizzle's db": withMethods('select', 'insert', '$count'),
  'a Knex': Object.assign(() => {}, withMethods('raw', 'batchInsert', 'select', 'insert')),
  'a Prisma client': withMethods('$queryRawUnsafe', '$connect'),
  "MikroORM's EntityManager": withMethods('persist', 'getUnitOfWork'),
  'a mongoose connection': withMethods('openUri', 'model'),
  "the mariadb connector's pool": {
    getConnection: async () => withMethods('query', 'execute', 'release', 'destroy', 'unprepare'),
  },
  '@libsql/client': withMethods('execute', 'executeMultiple', 'batch'),
  'the callback database of sqlite3': withMethods(
    'exec',
    'prepare',
    'all',
    'run',
    'serialize',
    'parallelize',
  ),
  "D1's binding": withMethods('exec', 'prepare', 'batch'),
  "postgres.js's sql": postgres({}),
  'a promise': new Promise(() => {}),
};

/** What `sqliteStorage` is for. */
const onSqlite = ["D1's binding", 'the callback database of sqlite3'];

describe.each(Object.entries(storages))('%s', (name, make) => {
  const wrong = Object.entries(libraries).filter(
    ([library]) => name !== 'sqliteStorage' || !onSqlite.includes(library),
  );
  it.each(wrong)('says of %s, at once or by its first create, what is needed', async (_, handle) => {
    const create = async () =>
      make(handle as never, { timeoutMs: 500 }).create({ id: 1n, name: 'Rosa' }, context);
    await expect(create()).rejects.toThrow(
      new RegExp(`${name} needs .*, got .*examples/README.md#databases$`),
    );
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string that looks like a URL or a connection string', 'postgres://localhost/garden'],
    ['an object of class URL', new URL('postgres://localhost/garden')],
    ['a number', 7],
    ['an array', []],
    ['a function', () => {}],
    ['an object', {}],
    ['an object of class Map', new Map()],
  ])('names %s at once', (came, handle) => {
    expect(() => make(handle as never)).toThrow(`, got ${came}: pass `);
  });
});

it.each<[string, string, () => unknown]>([
  ['a Client that nobody connected', 'await client.connect()', () => postgresStorage(new pg.Client())],
  ['a callback pool', 'pool.promise()', () => mysqlStorage(createCallbackPool({}) as never)],
  ['a callback cluster', 'pool.promise()', () => mysqlStorage(createCallbackCluster().of('*') as never)],
  [
    'a connection that prepares nothing',
    "new Database('plants.db')",
    () => sqliteStorage({ exec() {} } as never),
  ],
  [
    'a sqlite3 database that lacks a method',
    'it has no parallelize. Else pass ',
    () => sqliteStorage({ all() {}, exec() {} } as never),
  ],
  [
    'what promised-sqlite3 makes of one',
    'it has no transaction. Else pass ',
    // Its statements stay open until somebody ends them.
    () => {
      const prepare = async () => Promise.reject(new Error('must not end the process'));
      return sqliteStorage({ prepare, exec: async () => {}, all: async () => [], inner: {} } as never);
    },
  ],
  [
    'a database whose statements take callbacks',
    'it has no statements whose all() returns rows. Else pass ',
    () => sqliteStorage({ prepare: () => ({ all: () => ({}) }), exec() {} } as never),
  ],
  [
    'a Durable Object that keeps its data elsewhere',
    'it has no SQLite: list its class in new_sqlite_classes. Else pass ',
    () => {
      const exec = () => {
        throw new Error('SQL is not enabled for this Durable Object class');
      };
      return sqliteStorage({ sql: { exec }, transactionSync() {} } as never);
    },
  ],
])('%s is told by what to pass: %s', (_, remedy, make) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(remedy);
});

it('mysqlStorage of a connection is told at once', async () => {
  // Not awaited: nobody listens there, and the object is the same.
  const connecting = createConnection({ host: '127.0.0.1', port: 1 });
  await connecting.catch(() => {});
  expect(() => mysqlStorage(connecting as never)).toThrow('got an object of class Promise: await it first');
});

/** Objects whose first result shows what they are. */
const shown: [string, string, () => ReturnType<typeof sqliteStorage>][] = [
  [
    'rows instead of { rows }',
    'query must return { rows: [...] }, got an array',
    () => postgresStorage({ query: async () => [] } as never),
  ],
  [
    'nothing',
    'query must return { rows: [...] }, got undefined',
    () => postgresStorage({ query: async () => undefined } as never),
  ],
  [
    'a bug',
    'got an object, which failed. For libraries, see examples/README.md#databases',
    () => postgresStorage({ query: async (text: { sql: string }) => text.sql.trim() } as never),
  ],
  [
    "rows instead of mysql2's pair",
    'execute must return [rows, fields]',
    () =>
      mysqlStorage({
        getConnection: async () => withMethods('execute', 'unprepare', 'release', 'destroy'),
      } as never),
  ],
];

it.each(shown)('%s is told by the first create, find and check', async (_, why, open) => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const creates = [1n, 2n, 3n].map((id) => open().create({ id, name: 'Rosa' }, context));
  for (const outcome of await Promise.allSettled(creates)) {
    const cause = { name: 'SetupError', message: expect.stringContaining(why) };
    expect(outcome).toMatchObject({ reason: { name: 'RolledBack', cause } });
  }
  // What it calls first is found first.
  for (const call of [() => open().find(1n, context), () => open().check()])
    await expect(call()).rejects.toThrow(/sqliteStorage needs|must return|cannot use the table/);
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).not.toHaveBeenCalled();
  process.off('unhandledRejection', unhandled);
});

it('a statement of SQLite whose run counts no rows is told by a create, and nothing is stored', async () => {
  const database = new Database(':memory:');
  database.exec(sqliteSchema);
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    return {
      all: (...values: unknown[]) => statement.all(...values),
      run: (...values: unknown[]) => void statement.run(...values),
    };
  };
  const storage = sqliteStorage({ exec: (sql: string) => database.exec(sql), prepare });
  const cause = { name: 'SetupError', message: expect.stringContaining('run must return { changes }') };
  await expect(storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
    name: 'RolledBack',
    cause,
  });
  expect(await storage.find(1n, context)).toBeUndefined();
});
