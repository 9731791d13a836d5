// What only PostgreSQL has: tables that plant-store did not create, with their types, indexes, triggers and grants; and
// connections with settings or transactions of the app.
import pg from 'pg';
import { type PostgresPool, type PostgresStorage, postgresStorage, schemaOf } from 'plant-store/postgres';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { withColumns } from '../support/tables.js';
import { context } from './context.js';
import { ownServer } from './postgres-server.js';

const own = ownServer();
let tables = 0;
let table: string;
beforeEach(() => {
  table = `plants ${tables++}`;
});

async function open(columns: Record<string, string> = {}): Promise<PostgresStorage> {
  await own.pool.query(withColumns(schemaOf({ table }), columns));
  return postgresStorage(own.pool, { table });
}

it('createTable of a role that may only SELECT and INSERT finds the table that is there', async () => {
  await open();
  await own.pool.query(`CREATE ROLE "${table}" LOGIN; GRANT SELECT, INSERT ON "${table}" TO "${table}"`);
  const gardeners = own.poolOf({ role: table });
  const storage = postgresStorage(gardeners, { table });
  await storage.createTable();
  expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
});

it('reads no column of the type name, which the adapter of Prisma 6 cannot read', async () => {
  const types = new Set<number>();
  const query: PostgresPool['query'] = async (text, values) => {
    const result = await own.pool.query(text, values);
    for (const { dataTypeID } of [result].flat().flatMap(({ fields }) => fields)) types.add(dataTypeID);
    return result;
  };
  const storage = postgresStorage({ query }, { table });
  await storage.createTable();
  await storage.check();
  const plants = [1n, 2n].map((id) => ({ id, name: 'Rosa' }));
  for (const outcome of ['created', 'taken'])
    expect(await Promise.all(plants.map((plant) => storage.create(plant, context)))).toEqual([
      outcome,
      outcome,
    ]);
  expect(await storage.find(1n, context)).toMatchObject({ name: 'Rosa' });
  expect(types).toContain(pg.types.builtins.TEXT);
  expect(types).not.toContain(19);
});

describe('a connection of the pool that comes with a transaction of the app', () => {
  const rows = async () =>
    (await own.pool.query(`SELECT id::int FROM "${table}" ORDER BY id`)).rows.map(({ id }) => id);

  const mistakes: Record<string, (client: pg.PoolClient) => unknown> = {
    'is open': (client) => client.query('BEGIN'),
    'has failed': async (client) => {
      // A promise of `pg` rejects before the server says that the transaction has failed: the second one waits for that.
      await client.query('BEGIN; SELECT 1 / 0').catch(() => {});
      await client.query('SELECT 1').catch(() => {});
    },
    'has been begun but not awaited': (client) => void client.query('BEGIN'),
  };
  it.each(
    Object.entries(mistakes).flatMap(([mistake, spoil]) => [
      [`${mistake}, and is the first,`, spoil, false] as const,
      [mistake, spoil, true] as const,
    ]),
  )(
    'that %s is discarded: one create fails and names the mistake, the others are stored',
    async (_, spoil, isKnown) => {
      const storage = await open();
      const narrow = own.poolOf({ max: 1 });
      const { create } = postgresStorage(narrow, { table });
      // A storage that has not looked at the table yet finds the mistake before it sends an INSERT.
      await (isKnown ? create : storage.create)({ id: 0n, name: 'Rosa' }, context);
      const client = await narrow.connect();
      await spoil(client);
      client.release();
      const outcomes = await Promise.allSettled(
        [1n, 2n, 3n].map((id) => create({ id, name: 'Rosa' }, context)),
      );
      const failed = outcomes.filter(({ status }) => status === 'rejected');
      expect(failed).toMatchObject([{ reason: { name: 'StorageBusy', message: /open transaction/ } }]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
      const stored = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i + 1] : []));
      expect(await rows()).toEqual([0, ...stored]);
    },
  );

  it('may be a Client that the app gave instead of a pool: create fails until the app ends it', async () => {
    await open();
    const client = new pg.Client(own.server.url);
    await client.connect();
    const { create, check } = postgresStorage(client, { table });
    await client.query('BEGIN');
    const creates = [1n, 2n].map((id) => create({ id, name: 'Rosa' }, context));
    for (const outcome of await Promise.allSettled(creates)) {
      expect(outcome).toMatchObject({ reason: { name: 'StorageBusy', message: /open transaction/ } });
    }
    // The app's transaction is still there.
    await client.query('COMMIT');
    expect(await rows()).toEqual([]);
    expect(await create({ id: 3n, name: 'Rosa' }, context)).toBe('created');
    // The app may have a transaction of its own there at any time, so that `check` begins none.
    await check();
    await client.end();
  });

  it('may be such a Client, and show it only after the INSERT, whose plant is stored or lost with it: unknown', async () => {
    await open();
    const client = new pg.Client(own.server.url);
    await client.connect();
    const { create } = postgresStorage(client, { table });
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    const send = client.query.bind(client) as (...args: unknown[]) => Promise<pg.QueryResult>;
    vi.spyOn(client, 'query').mockImplementationOnce((...args: unknown[]) => {
      void send('BEGIN');
      return send(...args);
    });
    await expect(create({ id: 2n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'Error',
      message: expect.stringContaining('open transaction'),
    });
    await client.query('COMMIT');
    expect(await rows()).toEqual([1, 2]);
    await client.end();
  });
});

it('postgresStorage fails after the app has ended its Client', async () => {
  await open();
  const client = new pg.Client(own.server.url);
  await client.connect();
  const { create } = postgresStorage(client, { table, timeoutMs: 2_000 });
  await client.end();
  await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
    name: 'StorageBusy',
    // A Client of `pg` before 8.21 cannot be told from another driver's: it is asked until the timeout.
    ...('getTransactionStatus' in client && { message: 'the app has closed the database connection' }),
  });
});

it('a PoolClient that the app gave is released by the app alone', async () => {
  await open({ name: 'text NOT NULL CHECK (length(name) < 9)' });
  const narrow = own.poolOf({ max: 1 });
  const client = await narrow.connect();
  // Otherwise a failure would hang the end of the pool.
  onTestFinished(() => void (narrow.idleCount || client.release()));
  const { create, find } = postgresStorage(client, { table });
  expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  await expect(create({ id: 2n, name: 'too long a name' }, context)).rejects.toMatchObject({
    cause: { code: '23514' },
  });
  expect(await find(1n, context)).toMatchObject({ name: 'Rosa' });
  expect(narrow.idleCount).toBe(0);
  expect(await create({ id: 3n, name: 'Rosa' }, context)).toBe('created');
  client.release();
  expect(narrow.idleCount).toBe(1);
});

it('check says that the table is locked while another transaction has one of the ids that it tries', async () => {
  await open();
  const storage = postgresStorage(own.pool, { table });
  const other = await own.pool.connect();
  await other.query('BEGIN');
  await other.query(`INSERT INTO "${table}" (id, name) VALUES (1, 'Rosa')`);
  await expect(storage.check()).rejects.toThrow(
    `check() found the table "${table}" locked by another transaction. Try again`,
  );
  await other.query('ROLLBACK');
  other.release();
  await storage.check();
});

it('a row that another transaction has locked blocks a batch for a fraction of a second at a time, whatever the pool says, and its create alone waits on', async () => {
  await open();
  await own.pool.query(`CREATE FUNCTION "tell ${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE WARNING 'lock_timeout is %', current_setting('lock_timeout'); RETURN new; END $$;
      CREATE TRIGGER tell BEFORE INSERT ON "${table}" FOR EACH ROW WHEN (new.id = 7) EXECUTE FUNCTION "tell ${table}"()`);
  const holder = await own.pool.connect();
  await holder.query(`BEGIN; INSERT INTO "${table}" VALUES (7, 'held')`);
  const watched = own.poolOf({ options: '-c lock_timeout=1min' });
  const told = new Set<unknown>();
  watched.on('connect', (client) => client.on('notice', ({ message }) => told.add(message)));
  const { create } = postgresStorage(watched, { table });
  const locked = create({ id: 7n, name: 'Rosa' }, context);
  const others = Array.from({ length: 20 }, (_, i) => create({ id: BigInt(100 + i), name: 'Rosa' }, context));
  expect(await Promise.all(others)).toEqual(Array(20).fill('created'));
  await holder.query('ROLLBACK');
  holder.release();
  expect(await locked).toBe('created');
  expect(told).toEqual(new Set(['lock_timeout is 250ms']));
  const { rows } = await watched.query('SHOW lock_timeout');
  expect(rows).toEqual([{ lock_timeout: '1min' }]);
});

it('check finds nothing wrong with a further column of an enumeration, which takes none of its values', async () => {
  await own.pool.query(`CREATE TYPE "of ${table}" AS ENUM ('integer', 'date')`);
  const options = { table, columns: { mood: () => 'date' } };
  await own.pool.query(withColumns(schemaOf(options), { mood: `"of ${table}"` }));
  const storage = postgresStorage(own.pool, options);
  await storage.check();
  expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
});

const uuid = '6f9619ff-8b86-d011-b42d-00c04fc964ff';

describe('a column that no option names', () => {
  const namespace = { tenant: () => uuid };
  beforeEach(async () => {
    const columns = { seq: () => '', upper: () => '', state: () => '' };
    await own.pool.query(
      withColumns(schemaOf({ table, namespace, columns }), {
        tenant: 'uuid',
        seq: 'bigint GENERATED ALWAYS AS IDENTITY',
        upper: 'text GENERATED ALWAYS AS (upper(name)) STORED',
        state: "text NOT NULL DEFAULT 'new'",
      }),
    );
  });

  it('gets its default, its identity, or what generates it', async () => {
    const { create } = postgresStorage(own.pool, { table, namespace });
    await Promise.all([2n, 1n].map((id) => create({ id, name: `plant ${id}` }, context)));
    const select = `SELECT id::int, seq::int, upper, state FROM "${table}" ORDER BY id`;
    expect((await own.pool.query(select)).rows).toEqual([
      { id: 1, seq: 1, upper: 'PLANT 1', state: 'new' },
      { id: 2, seq: 2, upper: 'PLANT 2', state: 'new' },
    ]);
  });

  it.each(['seq', 'upper'])('cannot be an option if PostgreSQL generates its values: %s', async (column) => {
    const columns = { [column]: () => '9' };
    const { create } = postgresStorage(own.pool, { table, namespace, columns });
    await expect(create({ id: 9n, name: 'Rosa' }, context)).rejects.toMatchObject({
      message: expect.stringContaining('is GENERATED ALWAYS: make it GENERATED BY DEFAULT'),
      cause: { cause: { code: '428C9' } },
    });
  });
});

it('postgresStorage finds the plants of a batch by an index, also in a large table', async () => {
  const large = { table, namespace: { tenant: () => uuid } };
  await own.pool.query(`${withColumns(schemaOf(large), { tenant: 'uuid' })};
    INSERT INTO "${table}" (tenant, id, name) SELECT '${uuid}', id, 'Rosa' FROM generate_series(1, 20000) AS id;
    ANALYZE "${table}"`);
  const statements: [string, unknown[]][] = [];
  const watched = {
    query(text: string, values: unknown[] = []) {
      statements.push([text, values]);
      return own.pool.query(text, values);
    },
  };
  const { create } = postgresStorage(watched, large);
  await Promise.all([1n, 2n, 3n].map((id) => create({ id, name: 'Rosa' }, context)));
  const [text, values] = statements.at(-1)!;
  const { rows } = await own.pool.query(`EXPLAIN ${text}`, values);
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/Index (Only )?Scan/);
});

it('postgresStorage needs no more than the grants that adapters/storages/README.md names, by column', async () => {
  const granted = { table: 'granted', namespace: { tenant: () => 'garden' } };
  await own.pool.query(schemaOf(granted));
  const columns = `SELECT string_agg(attname, ', ') AS read FROM pg_attribute WHERE attrelid = 'granted'::regclass AND attnum > 0`;
  const [{ read }] = (await own.pool.query(columns)).rows;
  await own.pool.query(`ALTER TABLE granted ADD who text, ADD secret text;
    CREATE ROLE gardener LOGIN;
    GRANT SELECT (${read}), INSERT (${read}, who) ON granted TO gardener`);
  const gardeners = own.poolOf({ role: 'gardener' });
  const storage = postgresStorage(gardeners, { ...granted, columns: { who: () => 'me' } });
  const createAll = () => Promise.all([1n, 2n].map((id) => storage.create({ id, name: 'Rosa' }, context)));
  expect(await createAll()).toEqual(['created', 'created']);
  expect(await createAll()).toEqual(['taken', 'taken']);
  expect(await storage.find(1n, context)).toMatchObject({ name: 'Rosa' });
});

it('a pool that ends no login and no statement that hangs gets one warning of the process, which names both settings', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const both = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
  const create = async (options: pg.PoolConfig) => {
    // The flag is the module's.
    const { postgresStorage } = await import('plant-store/postgres');
    return postgresStorage(own.poolOf(options), { table }).create(
      { id: BigInt(ids++), name: 'Rosa' },
      context,
    );
  };
  let ids = 0;
  await open();
  vi.resetModules();
  for (const options of [both, {}, {}]) expect(await create(options)).toBe('created');
  expect(warn.mock.calls).toEqual([
    [
      expect.stringContaining('a connectionTimeoutMillis and a statement_timeout'),
      { code: 'PLANT_STORE_POOL' },
    ],
  ]);
  warn.mockClear();
  vi.resetModules();
  // A setting of the session counts, whoever made it.
  expect(await create({ connectionTimeoutMillis: 5_000, options: '-c statement_timeout=9999' })).toBe(
    'created',
  );
  expect(warn).not.toHaveBeenCalled();
  // Of a create that is waiting no longer nobody would hear what its statement stored.
  for (const timeout of ['10s', '1min']) {
    vi.resetModules();
    const options = `-c statement_timeout=${timeout}`;
    expect(await create({ connectionTimeoutMillis: 5_000, options })).toBe('created');
    expect(warn.mock.calls.splice(0)).toEqual([
      [
        expect.stringContaining(`which is ${timeout}, below the storage's timeoutMs of 10000 ms`),
        expect.anything(),
      ],
    ]);
  }
  vi.restoreAllMocks();
});

it('a pool whose clients show no open transaction gets one warning of the process, and one of pg none', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const pool = own.poolOf({ connectionTimeoutMillis: 5_000, statement_timeout: 5_000 });
  // As those of pg.native did before 8.21.
  const silent = {
    totalCount: 0,
    query: pool.query.bind(pool),
    connect: (callback: (error: unknown, client: object) => void) =>
      pool.connect((error, client) => {
        const { query, release } = client!;
        callback(error, { query: query.bind(client), release: release.bind(client) });
      }),
  };
  await open();
  vi.resetModules();
  const { postgresStorage } = await import('plant-store/postgres');
  for (const [id, each] of [pool, silent, silent].entries()) {
    const { create } = postgresStorage(each as PostgresPool, { table });
    expect(await create({ id: BigInt(id), name: 'Rosa' }, context)).toBe('created');
    expect(warn).toHaveBeenCalledTimes(Math.min(id, 1));
  }
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('do not show whether'), {
    code: 'PLANT_STORE_POOL',
  });
  vi.restoreAllMocks();
});

describe('what a role may not do is told as PostgreSQL knows it', () => {
  const newRole = () => own.pool.query(`CREATE ROLE "${table}" LOGIN`);

  it('createTable without CREATE on the schema', async () => {
    await newRole();
    const storage = postgresStorage(own.poolOf({ role: table }), { table });
    const why = 'the role of the pool may not create it. It needs GRANT CREATE, USAGE ON SCHEMA ... TO ...';
    await expect(storage.createTable()).rejects.toThrow(why);
    await own.pool.query(`GRANT CREATE, USAGE ON SCHEMA public TO "${table}"`);
    await storage.createTable();
  });

  it('create without USAGE on the schema, which hides the table', async () => {
    await newRole();
    const garden = `garden ${table}`;
    await own.pool.query(
      `CREATE SCHEMA "${garden}"; ${schemaOf({ table: `${garden}.plants` })};
        GRANT SELECT, INSERT ON "${garden}".plants TO "${table}"`,
    );
    const storage = postgresStorage(own.poolOf({ role: table }), { table: `${garden}.plants` });
    const why = `and GRANT USAGE ON SCHEMA "${garden}" TO ...`;
    await expect(storage.check()).rejects.toThrow(why);
    const cause = { message: expect.stringContaining(why) };
    await expect(storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({ cause });
    await own.pool.query(`GRANT USAGE ON SCHEMA "${garden}" TO "${table}"`);
    expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  });

  it.each([
    ['any grant', undefined],
    ['INSERT on one of the columns', 'SELECT, INSERT (id, name)'],
  ])('create without %s', async (_, granted) => {
    await open();
    await newRole();
    if (granted) await own.pool.query(`GRANT ${granted} ON "${table}" TO "${table}"`);
    const storage = postgresStorage(own.poolOf({ role: table }), { table });
    const why = `plant-store cannot use the table "${table}": the role of the pool may not use it. It needs GRANT SELECT, INSERT ON "${table}" TO ..., and`;
    await expect(storage.check()).rejects.toThrow(why);
    const denied = { reason: { name: 'RolledBack', message: expect.stringContaining(why) } };
    const createAll = (...ids: bigint[]) =>
      Promise.allSettled(ids.map((id) => storage.create({ id, name: 'Rosa' }, context)));
    expect(await createAll(1n)).toMatchObject([denied]);
    expect(await createAll(2n, 3n)).toMatchObject([denied, denied]);
  });
});

it('a null in a column of the plant is the fault of that plant, and asks the catalogue nothing', async () => {
  await open({ tag: 'text NOT NULL' });
  const statements: string[] = [];
  const watched = {
    query(text: string, values: unknown[] = []) {
      statements.push(text.slice(0, 6));
      return own.pool.query(text, values);
    },
  };
  const { create } = postgresStorage(watched, { table });
  for (const id of [1n, 2n])
    await expect(create({ id, name: 'Rosa' }, context)).rejects.toMatchObject({ cause: { code: '23502' } });
  expect(statements).toEqual(['WITH R', 'INSERT', 'INSERT']);
});

it('a domain that takes no null rejects the plants without that member, and no other', async () => {
  await own.pool.query(`CREATE DOMAIN "d ${table}" AS text NOT NULL`);
  await open({ tag: `"d ${table}"` });
  const { create } = postgresStorage(own.pool, { table });
  const plants = [1n, 2n, 3n, 4n].map((id) => ({ id, name: 'Rosa', ...(id < 3n && { tag: 'red' }) }));
  const outcomes = await Promise.allSettled(plants.map((plant) => create(plant, context)));
  const rejected = { reason: { name: 'RolledBack', cause: { code: '23502' } } };
  expect(outcomes).toMatchObject([{ value: 'created' }, { value: 'created' }, rejected, rejected]);
});

it('check takes a column that a trigger fills', async () => {
  await open();
  await own.pool.query(`ALTER TABLE "${table}" ADD note text NOT NULL;
    CREATE FUNCTION "fill ${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.note = 'x'; RETURN new; END $$;
    CREATE TRIGGER fill BEFORE INSERT ON "${table}" FOR EACH ROW EXECUTE FUNCTION "fill ${table}"()`);
  const storage = postgresStorage(own.pool, { table });
  await storage.check();
  expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
});

it.each<[string, () => string, string]>([
  [
    'a table that is partitioned by another column',
    () =>
      `CREATE TABLE "${table}" (id bigint NOT NULL, name text NOT NULL, tag text, day date NOT NULL DEFAULT '2026-01-01')
        PARTITION BY RANGE (day); CREATE TABLE "of ${table}" PARTITION OF "${table}" DEFAULT`,
    'it is a view or has partitions, and no unique index of exactly ("id") is to be seen',
  ],
  [
    'a table whose key may be violated until COMMIT',
    () => `CREATE TABLE "${table}" (id bigint PRIMARY KEY DEFERRABLE, name text NOT NULL, tag text)`,
    'the unique index of ("id") must not be DEFERRABLE',
  ],
  [
    'a view of a table without an index',
    () => `CREATE TABLE "of ${table}" (id bigint, name text, tag text);
      CREATE VIEW "${table}" AS SELECT * FROM "of ${table}"`,
    'it is a view or has partitions, and no unique index of exactly ("id") is to be seen',
  ],
  [
    'a view without a column, which ALTER TABLE cannot add',
    () => `CREATE TABLE "of ${table}" (id bigint PRIMARY KEY, name text, tag text);
      CREATE VIEW "${table}" AS SELECT id, name FROM "of ${table}"`,
    "by the option names: { tag: '...' }. If not, add it to the view",
  ],
])('%s is told by what to do', async (_, sql, why) => {
  await own.pool.query(sql());
  const storage = postgresStorage(own.pool, { table });
  await expect(storage.check()).rejects.toThrow(why);
  const creates = [1n, 2n].map((id) => storage.create({ id, name: 'Rosa' }, context));
  for (const outcome of await Promise.allSettled(creates))
    expect(outcome).toMatchObject({ reason: { cause: { message: expect.stringContaining(why) } } });
});

it('a database in another encoding than UTF8, which changes characters, is rejected', async () => {
  await own.pool.query(
    "CREATE DATABASE kanji TEMPLATE template0 ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C'",
  );
  const pool = own.poolOf({
    database: 'kanji',
    connectionString: own.server.url.replace('/postgres?', '/kanji?'),
  });
  const storage = postgresStorage(pool);
  await storage.createTable();
  const why = "its database is in EUC_JP. Move it to a database that has ENCODING 'UTF8'";
  await expect(storage.check()).rejects.toThrow(why);
  await expect(storage.create({ id: 1n, name: '\u2225' }, context)).rejects.toMatchObject({
    cause: { message: expect.stringContaining(why) },
  });
});
