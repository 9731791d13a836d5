// What an error says, whatever library wraps it: each error here is the database's own, from a real server or SQLite.
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { type PostgresPool, postgresStorage, schemaOf } from 'plant-store/postgres';
import { type SqliteDatabase, schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import postgres from 'postgres';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../support/deferred.js';
import { openPglite } from '../support/pglite.js';
import { listen } from '../support/sockets.js';
import { withColumns } from '../support/tables.js';
import { waitFor } from '../support/wait-for.js';
import { context } from './context.js';
import { messageOf, ownServer } from './postgres-server.js';

const own = ownServer();
let tables = 0;
let table: string;
beforeEach(async () => {
  table = `plants ${tables++}`;
  await own.pool.query(withColumns(schemaOf({ table }), { name: "text NOT NULL CHECK (name <> 'nettle')" }));
});

const plant = (id: number, name = 'Rosa') => ({ id: BigInt(id), name });
const created = { value: 'created' };

/** How a library throws an error of its driver. */
const wrappers: Record<string, (error: object) => unknown> = {
  'a driver': (error) => error,
  Sequelize: (original) =>
    Object.assign(new Error('SequelizeError'), { original, parent: original, sql: '' }),
  TypeORM: (driverError) => Object.assign(new Error('QueryFailedError'), { driverError, query: '' }),
  'Drizzle, slonik and MikroORM': (cause) => new Error('Failed query', { cause }),
  'Prisma without an adapter': (error) =>
    Object.assign(new Error('Raw query failed'), { code: 'P2010', meta: { ...error } }),
  'Prisma with an adapter': (error) => {
    const { code } = error as { code: string };
    const cause = { originalCode: code, originalMessage: 'from the database', kind: 'postgres' };
    const driverAdapterError = new Error('DriverAdapterError', { cause });
    return Object.assign(new Error('Raw query failed'), { code: 'P2010', meta: { driverAdapterError } });
  },
  'an error that wraps itself': (cause) => {
    const error = new Error('again', { cause });
    return Object.assign(error, { original: error });
  },
};

/** The pool through a library, which wraps its errors and counts its INSERTs. */
function through(wrap: (error: object) => unknown) {
  const inserts: string[] = [];
  const query: PostgresPool['query'] = async (text, values) => {
    if (text.includes('INSERT INTO')) inserts.push(text);
    return own.pool.query(text, values).catch((error) => {
      throw wrap(error);
    });
  };
  return { inserts, storage: postgresStorage({ query }, { table, timeoutMs: 5_000 }) };
}

it.each(Object.entries(wrappers))(
  'an error that %s throws rejects its plant, and stores the others of its batch',
  async (_, wrap) => {
    const { storage } = through(wrap);
    const outcomes = await Promise.allSettled(
      [plant(1), plant(2, 'nettle'), plant(3)].map((each) => storage.create(each, context)),
    );
    expect(outcomes).toMatchObject([
      created,
      { reason: { name: 'RolledBack', reason: 'rejected' } },
      created,
    ]);
  },
);

it('an error that a driver throws is retried after a serialization failure', async () => {
  await own.pool.query(`CREATE SEQUENCE "tries ${table}";
    CREATE FUNCTION "fail ${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('"tries ${table}"') = 1 THEN RAISE 'once' USING ERRCODE = '40001'; END IF; RETURN new; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON "${table}" FOR EACH ROW EXECUTE FUNCTION "fail ${table}"()`);
  const { storage, inserts } = through((error) => error);
  expect(await storage.create(plant(1), context)).toBe('created');
  expect(inserts).toHaveLength(2);
});

it.each<[string, () => Error, object]>([
  [
    'a TypeError that wraps nothing is a fault of the program, and rejected at once',
    () => new TypeError('a bug'),
    { name: 'RolledBack', cause: { name: 'SetupError', cause: { message: 'a bug' } } },
  ],
  [
    'a TypeError of fetch that wraps an error of the system is an outage',
    () => new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
    { name: 'StorageBusy' },
  ],
])('before the plants were sent, %s', async (_, make, reason) => {
  const storage = postgresStorage({ query: () => Promise.reject(make()) }, { timeoutMs: 300 });
  await expect(storage.create(plant(1), context)).rejects.toMatchObject(reason);
});

it('a TypeError after the plants were sent leaves their outcome unknown: a driver may fail to read the response', async () => {
  const bug = new TypeError('a bug');
  const query: PostgresPool['query'] = async (text, values) => {
    const result = await own.pool.query(text, values);
    if (text.startsWith('INSERT')) throw bug;
    return result;
  };
  await expect(postgresStorage({ query }, { table }).create(plant(1), context)).rejects.toBe(bug);
});

it.each([
  ['a syntax error', '42601', (text: string) => text.replace('INSERT', 'INSRT')],
  ['parameters that the library does not send', '42P02', (text: string) => text],
])('%s is reported at once, for all plants of a batch', async (_, code, change) => {
  let inserts = 0;
  const query: PostgresPool['query'] = async (text, values) => {
    if (!text.startsWith('INSERT')) return own.pool.query(text, values);
    inserts++;
    return own.pool.query(change(text), code === '42P02' ? undefined : values);
  };
  const storage = postgresStorage({ query }, { table });
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((id) => storage.create(plant(id), context)));
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ reason: { cause: { name: 'SetupError', cause: { code } } } });
  // The other one has no row: it shows that each create would fail so.
  expect(inserts).toBe(2);
});

describe('a connection that the server ends', () => {
  const pidOf = async (pool: pg.Pool) => (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;

  it('by transaction_timeout in a trigger is discarded, and nothing was committed', async () => {
    const pool = own.poolOf({ max: 1 });
    const pid = await pidOf(pool);
    await own.pool.query(`CREATE FUNCTION "wait ${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM set_config('transaction_timeout', '100', true); PERFORM pg_sleep(60); RETURN new; END $$;
      CREATE TRIGGER wait BEFORE INSERT ON "${table}" FOR EACH ROW EXECUTE FUNCTION "wait ${table}"()`);
    const storage = postgresStorage(pool, { table });
    // The trigger sets it: on a busy machine any statement before it may take as long.
    await expect(storage.create(plant(1), context)).rejects.toMatchObject({
      name: 'RolledBack',
      cause: { code: '25P04' },
    });
    expect(await pidOf(pool)).not.toBe(pid);
  });

  it.each([1, 2])('while it was idle is discarded, and %i plants are sent again', async (count) => {
    const idle = Object.assign(new Error('terminating connection due to idle-session timeout'), {
      code: '57P05',
      severity: 'FATAL',
    });
    let errors = 1;
    const query: PostgresPool['query'] = async (text, values) => {
      if (text.startsWith('INSERT') && errors-- > 0) throw idle;
      return own.pool.query(text, values);
    };
    const { create } = postgresStorage({ query }, { table });
    const plants = Array.from({ length: count }, (_, id) => plant(id));
    const outcomes = await Promise.allSettled(plants.map((each) => create(each, context)));
    expect(outcomes).toEqual(plants.map(() => ({ status: 'fulfilled', value: 'created' })));
  });
});

it('a trigger that raises a broken connection of its own is the fault of its plant', async () => {
  await own.pool.query(`CREATE FUNCTION "fail ${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF new.tag = 'far' THEN RAISE 'no route' USING ERRCODE = '08001'; END IF; RETURN new; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON "${table}" FOR EACH ROW EXECUTE FUNCTION "fail ${table}"()`);
  const { create } = postgresStorage(own.pool, { table });
  const outcomes = await Promise.allSettled(
    [undefined, 'far', undefined].map((tag, id) => create({ ...plant(id), tag }, context)),
  );
  expect(outcomes).toMatchObject([created, { reason: { cause: { code: '08001' } } }, created]);
});

describe('a login that cannot work', () => {
  const saslOffer = messageOf('R', '\0\0\0\x0aSCRAM-SHA-256\0\0');
  /** The server's first message of SCRAM, which repeats the nonce of the client. */
  const saslFirst = (sent: Buffer) =>
    messageOf('R', `\0\0\0\x0b${/r=[^,\0]+/.exec(`${sent}`)}server,s=c2FsdA==,i=4096`);

  it.each<[string, ((sent: Buffer) => Buffer)[], pg.PoolConfig, string]>([
    ['without a password', [() => saslOffer, saslFirst], {}, 'SASL: '],
    ['with SSL, which the server lacks', [() => Buffer.from('N')], { ssl: true }, 'SSL connections'],
  ])('%s is an outage, and says why', async (_, answers, options, why) => {
    const server = createServer((socket) => {
      const left = [...answers];
      socket.on('error', () => {});
      socket.on('data', (sent) => {
        const answer = left.shift();
        if (answer) socket.write(answer(sent));
      });
    });
    const { port, close } = await listen(server);
    onTestFinished(close);
    const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', ...options });
    pool.on('error', () => {});
    await expect(postgresStorage(pool, { timeoutMs: 1_000 }).create(plant(1), context)).rejects.toMatchObject(
      {
        name: 'StorageBusy',
        cause: { message: expect.stringContaining(why) },
      },
    );
    await pool.end();
  });
});

it('postgresStorage sends a pool that copies the config of a query all that it needs', async () => {
  const pool = own.poolOf({ max: 1 });
  const copies = vi.fn((query) => (typeof query === 'object' ? structuredClone(query) : query));
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...all: unknown[]) => unknown;
    client.query = ((given: unknown, ...rest: unknown[]) => query(copies(given), ...rest)) as never;
  });
  const { create } = postgresStorage(pool, { table });
  expect(await create(plant(1), context)).toBe('created');
  expect(await Promise.all([create(plant(2), context), create(plant(3), context)])).toEqual([
    'created',
    'created',
  ]);
  expect(JSON.stringify(copies.mock.lastCall)).toContain('plant_store_insert_');
});

describe('postgres.js', () => {
  const bridge = (options: postgres.Options<Record<string, never>> = {}) => {
    const sql = postgres({
      host: dirname(own.server.socket),
      username: 'postgres',
      onnotice: () => {},
      ...options,
    });
    onTestFinished(() => sql.end());
    return postgresStorage(
      { query: async (text, values = []) => ({ rows: await sql.unsafe(text, values) }) },
      { table },
    );
  };

  it('stores batches although it fetches no types, as on Cloudflare', async () => {
    const { create, find } = bridge({ fetch_types: false });
    const plants = [plant(1, 'a "quoted" \\ {name}, NULL'), { ...plant(2, 'NULL'), tag: '' }, plant(3, '')];
    expect(await Promise.all(plants.map((each) => create(each, context)))).toEqual(
      plants.map(() => 'created'),
    );
    for (const each of plants) expect(await find(each.id, context)).toEqual({ tag: undefined, ...each });
  });

  const referToTags = () =>
    own.pool.query(`CREATE TABLE "tags ${table}" (name text PRIMARY KEY); ALTER TABLE "${table}"
      ADD FOREIGN KEY (tag) REFERENCES "tags ${table}" DEFERRABLE INITIALLY DEFERRED`);

  // Before 3.4.8, postgres.js returns the rows of an INSERT whose COMMIT fails.
  it('returns created for no plant of a constraint that fails at COMMIT, and taken for none', async () => {
    await referToTags();
    const { create } = bridge();
    const untagged = { id: 1n, name: 'Rosa' };
    expect(await create(untagged, context)).toBe('created');
    const faulty = [2n, 3n, 4n].map((id) => ({ id, name: 'Rosa', tag: 'unknown' }));
    await expect(create(faulty[0]!, context)).rejects.toThrow();
    const outcomes = await Promise.allSettled(faulty.map((each) => create(each, context)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    const stored = await own.pool.query(`SELECT id::text FROM "${table}"`);
    expect(stored.rows).toEqual([{ id: '1' }]);
    expect(await create(untagged, context)).toBe('taken');
    expect(await create({ ...untagged, id: 5n }, context)).toBe('created');
  });

  it('rejects the plant of a constraint that fails at COMMIT', async () => {
    await referToTags();
    const { create } = bridge();
    const outcomes = await Promise.allSettled([
      create({ ...plant(1), tag: 'unknown' }, context),
      create(plant(2), context),
    ]);
    expect(outcomes).toMatchObject([{ reason: { name: 'RolledBack', cause: { code: '23503' } } }, created]);
    await expect(create({ ...plant(1), tag: 'unknown' }, context)).rejects.toMatchObject({
      name: 'RolledBack',
    });
  });
});

describe('PGlite', () => {
  it('makes creates wait for a transaction of the app, as its own queries do', async () => {
    const pglite = await openPglite();
    onTestFinished(() => pglite.close());
    const storage = postgresStorage(pglite);
    await storage.createTable();
    await storage.create(plant(98), context);
    const called = deferred<void>();
    const transaction = pglite.transaction(async (tx) => {
      await tx.query('CREATE TABLE counter (n int)');
      await called.promise;
    });
    await waitFor(() => expect(pglite.isInTransaction()).toBe(true));
    const creates = Array.from({ length: 20 }, (_, id) => storage.create(plant(id), context));
    await new Promise((resolve) => setImmediate(resolve));
    called.resolve();
    expect(await Promise.all(creates)).toEqual(creates.map(() => 'created'));
    await transaction;
    // The app's transactions follow each other while a create is sent.
    const others = Array.from({ length: 20 }, () => pglite.transaction((tx) => tx.query('SELECT 1')));
    expect(await storage.create(plant(99), context)).toBe('created');
    await Promise.all(others);
  });

  it('has an unknown outcome in a transaction that the app has begun by a statement', async () => {
    const pglite = await openPglite();
    onTestFinished(() => pglite.close());
    const { create, createTable } = postgresStorage(pglite);
    await createTable();
    await pglite.query('BEGIN');
    await expect(create(plant(1), context)).rejects.toThrow(/open transaction/);
    await pglite.query('ROLLBACK');
    expect(await create(plant(1), context)).toBe('created');
  });

  it('is unavailable at once after the app has closed it', async () => {
    const pglite = await openPglite();
    const { create, createTable } = postgresStorage(pglite);
    await createTable();
    await create(plant(1), context);
    await pglite.close();
    await expect(create(plant(2), context)).rejects.toMatchObject({
      name: 'StorageBusy',
      message: 'the app has closed the database connection',
    });
  });
});

describe('SQLite', () => {
  const open = (sql = sqliteSchema) => {
    const database = new Database(':memory:');
    onTestFinished(() => void (database.open && database.close()));
    database.exec(sql);
    return database;
  };

  it('retries a BEGIN while better-sqlite3 iterates over rows: nothing was stored', async () => {
    const database = open();
    let failures = 0;
    const iterating: SqliteDatabase = {
      prepare: (sql) => database.prepare(sql),
      exec(sql) {
        if (failures-- > 0) throw new TypeError('This database connection is busy executing a query');
        return database.exec(sql);
      },
    };
    const storage = sqliteStorage(iterating);
    expect(await storage.create(plant(1), context)).toBe('created');
    failures = 2;
    expect(await storage.create(plant(2), context)).toBe('created');
  });

  it.each(['run', 'all'] as const)(
    'counts no rows of triggers, as Bun counts them in run: by %s',
    async (by) => {
      const database = open(`${sqliteSchema}; CREATE TABLE log (name TEXT);
      CREATE TRIGGER before BEFORE INSERT ON plants BEGIN INSERT INTO log VALUES (new.name); END;
      CREATE TRIGGER after AFTER INSERT ON plants BEGIN INSERT INTO log VALUES (new.name), (new.name); END`);
      const counting: SqliteDatabase = {
        exec: (sql) => database.exec(sql),
        prepare(sql) {
          const statement = database.prepare(sql);
          return {
            all: (...values: never[]) => statement.all(...values),
            run: (...values: never[]) => ({ ...statement.run(...values), changes: 4 }),
          };
        },
      };
      const { create } = sqliteStorage(counting);
      const both = [plant(1), plant(2)].slice(0, by === 'run' ? 1 : 2);
      const createAll = () => Promise.all(both.map((each) => create(each, context)));
      expect(await createAll()).toEqual(both.map(() => 'created'));
      expect(await createAll()).toEqual(both.map(() => 'taken'));
    },
  );
});
