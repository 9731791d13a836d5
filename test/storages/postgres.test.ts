import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type PostgresPool, type PostgresStorage, postgresStorage, schemaOf } from 'plant-store/postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { randomOf, seed } from '../support/random.js';
import { waitFor } from '../support/wait-for.js';
import { context } from './context.js';
import { ownServer } from './postgres-server.js';

// This standby does not exist: a session that asks for more than a local commit waits for ever.
const own = ownServer({
  max_connections: '200',
  synchronous_commit: 'local',
  synchronous_standby_names: 'nobody',
});

/** A connection of a rival. */
let world: pg.Client;
let table: string;
let storage: PostgresStorage;

beforeEach(async () => {
  world = new pg.Client(own.server.url);
  await world.connect();
  table = `plants-${randomUUID()}`;
  storage = postgresStorage(own.pool, { table });
  await storage.createTable();
});

afterEach(async () => {
  // Every connection that was checked out was returned or discarded. A busy machine may have begun one more connect.
  await waitFor(() => expect(own.pool.idleCount).toBe(own.pool.totalCount));
  await world.end();
});

const plant = (id: number, name = `plant ${id}`) => ({ id: BigInt(id), name });

async function rows(): Promise<unknown[]> {
  return (await world.query(`SELECT id::text, name, tag FROM "${table}" ORDER BY id`)).rows;
}

/**
 * Resolves with how many statements on the table wait for this reason.
 *
 * @param end the function by which the server then ends them
 */
async function waitingFor(reason: string, end = ''): Promise<number> {
  const ending = `SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event = $1 AND query LIKE 'INSERT INTO%' || $2 || '%'`;
  return (await own.pool.query(ending, [reason, table])).rows.length;
}

/** Resolves as soon as a statement on the table waits for this reason, and is ended by this function. */
async function waiting(reason: string, end = ''): Promise<void> {
  while ((await waitingFor(reason, end)) === 0);
}

/** A connection whose first INSERTs fail, and the ids of its INSERTs. */
function failing(error: unknown, times = 1) {
  const sent: string[][] = [];
  // It shows nothing of its tables.
  const query: PostgresPool['query'] = async (text, values = []) => {
    if (!text.startsWith('INSERT')) return { rows: [] };
    // The ids are an array, as PostgreSQL spells it.
    const ids: string[] = String(values[0]).match(/\d+/g) ?? [];
    // An INSERT of nothing, which asks whether every other fails.
    if (ids.length === 0) return { rows: [] };
    if (sent.push(ids) <= times) throw error;
    return { rows: ids.map((key) => ({ key })) };
  };
  return { handle: { query }, sent };
}

const failure = (code: string, message = `failed with ${code}`) =>
  Object.assign(new Error(message), { code });

const both = (other = storage) =>
  Promise.allSettled([other.create(plant(1), context), other.create(plant(2), context)]);
const created = { value: 'created' };

/** What becomes of a batch of two plants whose INSERT fails, as does that of the first alone. */
const meanings = {
  retried: () => ({ times: 1, outcomes: [created, created], batches: ['1,2', '1', '2'] }),
  apart: (cause: Error) => ({
    times: 2,
    outcomes: [{ reason: { name: 'RolledBack', cause } }, created],
    batches: ['1,2', '1', '2'],
  }),
  unknown: (reason: Error) => ({ times: 1, outcomes: [{ reason }, { reason }], batches: ['1,2'] }),
};

// What each SQLSTATE means is in codes.test.ts.
it.each<[keyof typeof meanings, string, Error]>([
  ['retried', 'a deadlock', failure('40P01')],
  ['retried', 'connection refused', failure('ECONNREFUSED')],
  ['apart', 'another unique column', failure('23505')],
  ['unknown', 'connection lost', failure('ECONNRESET')],
  ['unknown', 'no response', failure('ETIMEDOUT')],
  // Their codes look like those of SQL, and no server has sent them.
  ['unknown', 'a broken pipe', failure('EPIPE')],
  ['unknown', 'a busy device', failure('EBUSY')],
  ['unknown', 'Prisma failed', failure('P2010')],
  ['unknown', 'Prisma reached no server', failure('P1001')],
  ['unknown', 'a code like that, without a severity', failure('GA001')],
  ['unknown', 'query_timeout of the driver', failure('undefined')],
  ['unknown', 'PgBouncer, which has one code for all', failure('08P01', 'query_wait_timeout')],
])('plants are %s after the error: %s', async (meaning, _, error) => {
  const { times, outcomes, batches } = meanings[meaning](error);
  const { handle, sent } = failing(error, times);
  expect(await both(postgresStorage(handle))).toMatchObject(outcomes);
  expect(sent.map(String)).toEqual(batches);
});

it('a driver that fails without an error still settles every create: the plant may be stored', async () => {
  const { handle, sent } = failing(undefined);
  const failed = { reason: { message: 'the driver failed without an error' } };
  expect(await both(postgresStorage(handle))).toMatchObject([failed, failed]);
  expect(sent).toHaveLength(1);
});

it.each([
  failure('57014'),
  failure('40001'),
  new Error('Client has encountered a connection error and is not queryable'),
])(
  'the outcome of a batch is unknown if it cannot be asked which of its plants were new: %s',
  async (lost) => {
    const losing: PostgresPool = {
      query: (text, values) =>
        text.startsWith('SELECT (new.place') ? Promise.reject(lost) : own.pool.query(text, values),
    };
    // Of a namespace, two texts may be one to the database: so it is asked.
    const spaced = { table: `spaced ${table}`, namespace: { tenant: () => 'garden' } };
    await own.pool.query(schemaOf(spaced));
    await postgresStorage(own.pool, spaced).create(plant(1, 'theirs'), context);
    const outcomes = await both(postgresStorage(losing, spaced));
    const unknown = { reason: { name: 'Error', cause: lost } };
    expect(outcomes).toMatchObject([unknown, unknown]);
    const stored = await own.pool.query(`SELECT name FROM "${spaced.table}" ORDER BY id`);
    expect(stored.rows).toEqual([{ name: 'theirs' }, { name: 'plant 2' }]);
  },
);

it('believes the INSERT where reads are answered by a standby that is behind, as behind Pgpool-II', async () => {
  await own.pool.query(
    `CREATE SCHEMA behind; CREATE TABLE behind."${table}" (LIKE "${table}" INCLUDING ALL)`,
  );
  const standby = own.poolOf({ options: '-c search_path=behind' });
  const splitting: PostgresPool = {
    query: (text, values) => (/^SELECT/.test(text) ? standby : own.pool).query(text, values),
  };
  const storage = postgresStorage(splitting, { table });
  expect(await storage.create(plant(1), context)).toBe('created');
  expect(await storage.create(plant(1), context)).toBe('taken');
  const batch = [0, 1, 2].map((id) => storage.create(plant(id), context));
  expect(await Promise.all(batch)).toEqual(['created', 'taken', 'created']);
});

it('takes no id for taken whose plant a trigger drops that is new since the look', async () => {
  expect(await storage.create(plant(1), context)).toBe('created');
  await own.pool.query(`CREATE FUNCTION "drop ${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
    CREATE TRIGGER drops BEFORE INSERT ON "${table}" FOR EACH ROW EXECUTE FUNCTION "drop ${table}"()`);
  for (const ids of [[2], [3, 4]]) {
    const outcomes = await Promise.allSettled(ids.map((id) => storage.create(plant(id), context)));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({
        reason: { message: expect.stringContaining('neither inserted nor found') },
      });
  }
});

it('a database without the catalogue of PostgreSQL stores plants in columns of the usual types', async () => {
  const bare: PostgresPool = {
    query: (text, values) =>
      text.startsWith('WITH RECURSIVE') ? Promise.reject(failure('42883')) : own.pool.query(text, values),
  };
  expect(await both(postgresStorage(bare, { table }))).toMatchObject([created, created]);
  expect(await rows()).toMatchObject([{ name: 'plant 1' }, { name: 'plant 2' }]);
});

describe('a rival that has not committed yet', () => {
  it.each([
    ['COMMIT', 'taken', 'theirs'],
    ['ROLLBACK', 'created', 'ours'],
  ])('makes the create wait: after its %s the outcome is %s', async (end, outcome, name) => {
    await world.query('BEGIN');
    await world.query(`INSERT INTO "${table}" VALUES (1, 'theirs')`);
    const creating = storage.create(plant(1, 'ours'), context);
    await waiting('transactionid');
    await world.query(end);
    expect(await creating).toBe(outcome);
    expect(await rows()).toEqual([{ id: '1', name, tag: null }]);
  });
});

it.each(['read committed', 'serializable'])(
  'four instances that race for the same ids at the level %s: each id is created once, and there is no deadlock',
  async (level) => {
    const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
    const storages = [1, 2, 3, 4].map(() => postgresStorage(own.poolOf({ options }), { table }));
    const random = randomOf(seed);
    for (let round = 0; round < 5; round++) {
      const ids = Array.from({ length: 100 }, (_, i) => round * 100 + i);
      const outcomes = await Promise.all(
        storages.flatMap(({ create }) => {
          // Each instance in another order.
          const places = new Map(ids.map((id) => [id, random()]));
          const shuffled = [...ids].sort((a, b) => places.get(a)! - places.get(b)!);
          return shuffled.map((id) => create(plant(id), context));
        }),
      );
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(100);
    }
    expect(await rows()).toHaveLength(500);
  },
);

describe('a dropped connection', () => {
  it('leaves the outcome of its plants unknown; the next plants are stored', async () => {
    await world.query(`BEGIN; LOCK TABLE "${table}"`);
    const creating = [storage.create(plant(1), context), storage.create(plant(2), context)];
    let isOver = false;
    const outcomes = Promise.allSettled(creating).finally(() => {
      isOver = true;
    });
    // On a busy machine the first one may have waited for its lock for too long, and be retried.
    while (!isOver) await waitingFor('relation', 'pg_terminate_backend');
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '57P01' } });
    }
    await world.query('COMMIT');
    expect(await storage.create(plant(3), context)).toBe('created');
  });

  it('to a database that became read-only is not used again', async () => {
    await storage.create(plant(1), context);
    const role = `gardener-${randomUUID()}`;
    await world.query(
      `CREATE ROLE "${role}" LOGIN SUPERUSER; ALTER ROLE "${role}" SET default_transaction_read_only = on`,
    );
    const readers = own.poolOf({ role });
    let refused = 0;
    readers.on('remove', () => {
      if (++refused === 1) world.query(`ALTER ROLE "${role}" RESET default_transaction_read_only`);
    });
    expect(await postgresStorage(readers, { table }).create(plant(2), context)).toBe('created');
    expect(refused).toBeGreaterThan(0);
  });
});

describe('a plant that waits for a standby', () => {
  const patient = (more = '') => ({ options: `-c synchronous_commit=on${more}` });
  it.each<[string, () => PostgresPool]>([
    ['Pool', () => own.poolOf(patient())],
    ['Client', () => new pg.Client({ connectionString: own.server.url, ...patient() })],
    ['Pool that hides warnings', () => own.poolOf(patient(' -c client_min_messages=error'))],
  ])(
    'has an unknown outcome if that wait is cancelled, although PostgreSQL only warns (%s)',
    async (_, make) => {
      const handle = make();
      if (handle instanceof pg.Client) await handle.connect();
      const outcome = postgresStorage(handle, { table })
        .create(plant(1), context)
        .catch((error) => error);
      await waiting('SyncRep', 'pg_cancel_backend');
      expect(await outcome).toMatchObject({ message: expect.stringMatching(/^not replicated: /) });
      // The outcome is unknown because this server has the plant, and the standby may not.
      expect(await rows()).toHaveLength(1);
      if (handle instanceof pg.Client) await handle.end();
    },
  );
});

/** A trigger that does this before a plant of this name is inserted. */
const onNettle = (statement: string) => `
  CREATE FUNCTION "weed ${table}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF new.name = 'nettle' THEN ${statement}; END IF; RETURN new; END $$;
  CREATE TRIGGER weed BEFORE INSERT ON "${table}" FOR EACH ROW EXECUTE FUNCTION "weed ${table}"()`;

describe("a table of the app's own", () => {
  it.each<[string, string, () => string]>([
    [
      'a second unique column',
      '23505',
      () => `INSERT INTO "${table}" VALUES (100, 'nettle'); CREATE UNIQUE INDEX ON "${table}" (name)`,
    ],
    [
      'a policy of row-level security',
      '42501',
      () => `ALTER TABLE "${table}" ENABLE ROW LEVEL SECURITY;
        CREATE POLICY see ON "${table}" FOR SELECT USING (true);
        CREATE POLICY add ON "${table}" FOR INSERT WITH CHECK (name <> 'nettle')`,
    ],
    ['a trigger with a code of its own', 'GA001', () => onNettle("RAISE 'no' USING ERRCODE = 'GA001'")],
    // Not a fault of the table of the plants.
    ['a trigger that misses a grant', '42501', () => onNettle('INSERT INTO audit VALUES (1)')],
    ['a trigger that misses a table', '42P01', () => onNettle('INSERT INTO audits VALUES (1)')],
    ['a trigger that misses a column', '42703', () => onNettle('INSERT INTO audit (who) VALUES (1)')],
  ])(
    'that rejects one of 64 plants by %s (%s) stores the other 63, and the connection is kept',
    async (_, code, rule) => {
      const role = `gardener-${randomUUID()}`;
      await world.query(`CREATE ROLE "${role}" LOGIN; CREATE TABLE IF NOT EXISTS audit (n int);
        GRANT SELECT, INSERT ON "${table}" TO "${role}"; ${rule()}`);
      const gardeners = own.poolOf({ role });
      const connected = vi.fn();
      gardeners.on('connect', connected);
      const { create } = postgresStorage(gardeners, { table });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 64 }, (_, i) => create(plant(i, i === 21 ? 'nettle' : `Rosa ${i}`), context)),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(63);
      expect(outcomes[21]).toMatchObject({ reason: { name: 'RolledBack', cause: { code } } });
      expect(connected).toHaveBeenCalledTimes(1);
      const { rows } = await world.query(`SELECT id FROM "${table}" WHERE id < 64`);
      expect(rows).toHaveLength(63);
    },
  );

  it('whose trigger drops rows silently does not cause taken for their ids', async () => {
    await world.query(onNettle('RETURN NULL'));
    await storage.create(plant(1, 'Rosa'), context);
    const outcomes = await Promise.allSettled(
      ['Rosa', 'nettle', 'Rosa'].map((name, i) => storage.create(plant(i + 1, name), context)),
    );
    expect(outcomes).toMatchObject([
      { value: 'taken' },
      { reason: { message: expect.stringMatching(/the plant was neither inserted nor found/) } },
      { value: 'created' },
    ]);
    // A lone plant has a statement of its own.
    await expect(storage.create(plant(4, 'nettle'), context)).rejects.toThrow('neither inserted nor found');
  });

  it('whose trigger warns stores the plant, which is created', async () => {
    await world.query(onNettle("RAISE WARNING 'thorns'"));
    expect(await storage.create(plant(1, 'nettle'), context)).toBe('created');
  });
});

describe('createTable', () => {
  it('is safe when 16 instances start at once', async () => {
    const pools = Array.from({ length: 16 }, () => own.poolOf({ max: 1 }));
    await Promise.all(pools.map((other) => other.query('SELECT 1')));
    for (let round = 0; round < 5; round++) {
      const name = `start-${randomUUID()}`;
      await Promise.all(pools.map((other) => postgresStorage(other, { table: name }).createTable()));
      expect(await postgresStorage(own.pool, { table: name }).create(plant(1), context)).toBe('created');
    }
  });

  it('works when it is called again after a failure', async () => {
    const garden = `garden-${randomUUID()}`;
    const storage = postgresStorage(own.pool, { table: `${garden}.plants` });
    await expect(storage.createTable()).rejects.toMatchObject({ cause: { code: '3F000' } });
    await expect(storage.create(plant(1), context)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('it does not exist') },
    });
    await world.query(`CREATE SCHEMA "${garden}"`);
    await storage.createTable();
    await storage.createTable();
    expect(await storage.create(plant(1), context)).toBe('created');
  });

  it.each(['select', 'two words', '"; DROP TABLE x; --', "'", 'É', 'public.of a schema'])(
    'quotes the table %j',
    async (name) => {
      const odd = postgresStorage(own.pool, { table: name });
      await odd.createTable();
      expect(await odd.create(plant(1), context)).toBe('created');
      expect(await odd.find(1n, context)).toEqual(plant(1));
      const { rows } = await world.query('SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = $2', [
        'public',
        name.replace('public.', ''),
      ]);
      expect(rows).toHaveLength(1);
    },
  );
});
