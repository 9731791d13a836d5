// SQLite by each kind of handle: what a create is told while a lock, a network, the app or the file fails.
import type { BatchReport, NewPlant } from 'plant-store';
import { schema, sqliteStorage } from 'plant-store/sqlite';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../support/deferred.js';
import { newFile } from '../support/run-folder.js';
import { connect, type Network, sqliteKinds, sqliteVariants } from '../support/sqlite-handles.js';
import { withColumns } from '../support/tables.js';
import { context } from './context.js';

const rosa = (id: number | bigint) => ({ id: BigInt(id), name: 'Rosa' });

const turn = () => new Promise((resolve) => setImmediate(resolve));

const unhandled = vi.fn();
process.on('unhandledRejection', unhandled);
afterEach(async () => {
  await turn();
  const { calls } = unhandled.mock;
  unhandled.mockClear();
  expect(calls).toEqual([]);
});

const kinds = Object.entries(sqliteKinds);
const farAway = kinds.filter(([, { isFarAway }]) => isFarAway);

/** A storage over a new table, and another connection that looks past it. */
async function open(kind: (typeof kinds)[number][1], sql = schema, options = {}) {
  const file = newFile();
  const other = connect(file);
  other.exec(`PRAGMA journal_mode=WAL; ${sql}`);
  const network: Network = {};
  const opened = kind.open(file, network);
  onTestFinished(() => {
    opened.close();
    other.close();
  });
  const batches: BatchReport['end'][] = [];
  const missed = deferred<void>();
  const onBatch = ({ end }: BatchReport) => {
    batches.push(end);
    if (end !== 'settled') missed.resolve();
  };
  const storage = sqliteStorage(opened.handle, { timeoutMs: 60_000, onBatch, ...options });
  const ids = () =>
    other
      .prepare('SELECT CAST(id AS TEXT) AS text FROM plants ORDER BY id')
      .all()
      .map((row) => (row as { text: string }).text);
  return { ...opened, storage, file, network, other, batches, missed: missed.promise, ids };
}

describe.each(kinds)('%s', (name, kind) => {
  it.each([[[1]], [[1, 2, 3]]])(
    'creates of %j meet a lock of another connection: retried, and created after it',
    async (ids) => {
      const { storage, other, batches, missed, ids: stored } = await open(kind);
      expect(await storage.create(rosa(9), context)).toBe('created');
      other.exec("BEGIN IMMEDIATE; INSERT INTO plants (id, name) VALUES (8, 'Acer')");
      const creating = ids.map((id) => storage.create(rosa(id), context));
      await missed;
      other.exec('COMMIT');
      expect(await Promise.all(creating)).toEqual(ids.map(() => 'created'));
      expect(batches).not.toContain('unknown');
      expect(stored()).toEqual([...ids, 8, 9].map(String));
    },
  );

  // The pragma holds for the connection alone that is told it.
  if (kind.sharesConnection)
    it("a full disk: nothing is stored, and with SQLite's result it is retried until there is room", async () => {
      const { storage, run, missed, ids } = await open(kind);
      const large = (id: bigint) => ({ id, name: 'R'.repeat(100_000) });
      expect(await storage.create(rosa(1), context)).toBe('created');
      // As many as there are: the file does not grow.
      await run('PRAGMA max_page_count = 1');
      const creating = storage.create(large(2n), context).catch((error) => error);
      await Promise.race([missed, creating]);
      expect(ids()).toEqual(['1']);
      await run('PRAGMA max_page_count = 1000000');
      const outcome = await creating;
      if (kind.hasResults) expect(outcome).toBe('created');
      else expect(outcome).toMatchObject({ name: 'RolledBack' });
      expect(ids()).toEqual(kind.hasResults ? ['1', '2'] : ['1']);
    });

  it('a constraint that fails at COMMIT, in a batch with a taken id: each is told its own', async () => {
    const tag = 'TEXT REFERENCES tags (name) DEFERRABLE INITIALLY DEFERRED';
    const sql = `CREATE TABLE tags (name TEXT PRIMARY KEY); ${withColumns(schema, { tag })}`;
    const { storage, ids } = await open(kind, sql);
    const told = (plant: NewPlant) => storage.create(plant, context).catch(({ name }: Error) => name);
    expect(await told(rosa(1))).toBe('created');
    // The first is sent alone, the others together.
    const plants = [rosa(2), rosa(1), { ...rosa(3), tag: 'unknown' }, rosa(4)];
    const outcomes = await Promise.all(plants.map(told));
    expect(outcomes).toEqual(['created', 'taken', 'RolledBack', 'created']);
    expect(ids()).toEqual(['1', '2', '4']);
  });

  it('a trigger that rejects each plant is told as that, and not as a fault of the table', async () => {
    const trigger = "CREATE TRIGGER peer BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'closed'); END";
    const { storage } = await open(kind, `${schema}; ${trigger}`);
    const error = await storage.create(rosa(1), context).catch((error) => error);
    expect(error).toMatchObject({ name: 'RolledBack', reason: 'rejected' });
    expect(error.cause.name).not.toBe('SetupError');
  });

  it('a first create meets a lock before the table was looked at: retried, and no table that rounds is used', async () => {
    const { storage, other, missed, ids } = await open(kind, withColumns(schema, { id: 'REAL PRIMARY KEY' }));
    other.exec('BEGIN IMMEDIATE');
    const creating = storage.create(rosa(2n ** 53n + 1n), context).catch((error) => error);
    // What only reads does not meet it.
    await Promise.race([missed, creating]);
    other.exec('COMMIT');
    expect(await creating).toMatchObject({
      cause: { message: expect.stringMatching(/its column id is REAL/) },
    });
    expect(ids()).toEqual([]);
  });

  it('two storages of one connection: each create is stored, and told so', async () => {
    const { storage, handle, ids } = await open(kind);
    const storages = [storage, sqliteStorage(handle, { timeoutMs: 60_000 })];
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, i) => storages[i % 2]!.create(rosa(i), context)),
    );
    expect(new Set(outcomes)).toEqual(new Set(['created']));
    expect(ids()).toHaveLength(64);
  });

  // Workers let nobody ask for it: theirs is UTF-8.
  if (!/D1|Durable/.test(name))
    it('a table in UTF-16 is refused by name', async () => {
      const file = newFile();
      const other = connect(file);
      other.exec(`PRAGMA encoding = 'UTF-16'; ${schema}`);
      const { handle, close } = kind.open(file, {});
      onTestFinished(() => {
        close();
        other.close();
      });
      const { create } = sqliteStorage(handle);
      await expect(create({ id: 1n, name: 'a\ufffe' }, context)).rejects.toMatchObject({
        cause: { message: expect.stringMatching(/its database is in UTF-16/) },
      });
      expect(other.prepare('SELECT count(*) AS n FROM plants').all()).toEqual([{ n: 0 }]);
    });

  it('a view is refused by name', async () => {
    const { storage } = await open(
      kind,
      `${schema}; ALTER TABLE plants RENAME TO below; CREATE VIEW plants AS SELECT * FROM below`,
    );
    await expect(storage.check()).rejects.toThrow(
      /: it is a view or a virtual table, .* the name of the table/,
    );
  });

  it('triggers that drop the plant are named', async () => {
    const { storage, other } = await open(kind);
    for (const name of ['first', 'second'])
      other.exec(
        `CREATE TRIGGER ${name} AFTER INSERT ON plants BEGIN DELETE FROM plants WHERE id = new.id; END`,
      );
    const why =
      /does not have the plant after its INSERT: one of its triggers .*: (first, second|second, first)$/;
    await expect(storage.check()).rejects.toThrow(why);
    await expect(storage.create(rosa(1), context)).rejects.toThrow(why);
  });

  it('createTable creates the table once, and again does nothing', async () => {
    const { storage, ids } = await open(kind, '');
    await storage.createTable();
    await storage.createTable();
    await storage.check();
    expect(await storage.create(rosa(1), context)).toBe('created');
    expect(ids()).toEqual(['1']);
  });

  it('createTable and check wait for the lock of another connection', async () => {
    const { storage, other, ids } = await open(kind, 'CREATE TABLE app (n INTEGER)');
    for (const call of [() => storage.createTable(), () => storage.check()]) {
      other.exec('BEGIN IMMEDIATE; INSERT INTO app VALUES (1)');
      const called = call();
      for (let i = 0; i < 50; i++) await turn();
      other.exec('COMMIT');
      await called;
    }
    expect(await storage.create(rosa(1), context)).toBe('created');
    expect(ids()).toEqual(['1']);
  });

  it('a trigger that names what is gone is named, without a remedy for what is there', async () => {
    const { storage, other } = await open(kind, `${schema}; CREATE TABLE log (id INTEGER)`);
    expect(await storage.create(rosa(1), context)).toBe('created');
    other.exec(
      'CREATE TRIGGER peer AFTER INSERT ON plants BEGIN INSERT INTO log VALUES (new.id); END; DROP TABLE log',
    );
    const error = await storage.create(rosa(2), context).catch((error) => error);
    const why = /its columns and its unique index are there. Check what its triggers name: peer$/;
    expect(error).toMatchObject({ name: 'RolledBack', cause: { name: 'SetupError', message: why } });
    await expect(storage.check()).rejects.toThrow(why);
  });

  it('leaves no transaction open after a rejected create and a check', async () => {
    const { storage, other, ids } = await open(
      kind,
      withColumns(schema, { name: "TEXT CHECK (name <> 'weed')" }),
    );
    await expect(storage.create({ id: 1n, name: 'weed' }, context)).rejects.toMatchObject({
      name: 'RolledBack',
      reason: 'rejected',
    });
    await storage.check();
    other.exec('BEGIN IMMEDIATE; ROLLBACK');
    expect(ids()).toEqual([]);
  });
});

describe.each(kinds.filter(([name, { isFarAway }]) => !isFarAway && !name.includes('Durable')))(
  '%s beside a transaction that writes',
  (_, kind) => {
    it('finds a plant', async () => {
      const { storage, other } = await open(kind);
      expect(await storage.create(rosa(9), context)).toBe('created');
      other.exec('BEGIN IMMEDIATE');
      const found = await storage.find(9n, context).catch((error) => error);
      other.exec('COMMIT');
      expect(found).toMatchObject({ name: 'Rosa' });
    });
  },
);

describe.each(kinds.filter(([, { showsClosed }]) => showsClosed))('%s that the app has closed', (_, kind) => {
  it('is unavailable at once', async () => {
    const { storage, close } = await open(kind);
    expect(await storage.create(rosa(1), context)).toBe('created');
    close();
    const calls = [() => storage.create(rosa(2), context), () => storage.find(1n, context)];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({
        name: 'StorageBusy',
        message: 'the app has closed the database connection',
        cause: expect.any(Error),
      });
  });
});

it('libsql/promise that the app has closed, which does not show it: creates are unavailable, and the process goes on', async () => {
  const { storage, close } = await open(sqliteKinds['libsql/promise']!, schema, { timeoutMs: 300 });
  expect(await storage.create(rosa(1), context)).toBe('created');
  close();
  await expect(storage.create(rosa(2), context)).rejects.toMatchObject({ name: 'StorageBusy' });
  await expect(storage.find(1n, context)).rejects.toMatchObject({ reason: 'conflict' });
});

describe('a D1 that a batch of the app has reset', () => {
  it.each([[[1]], [[1, 2, 3]]])(
    'gives creates of %j, which it has stored, the error of that batch: unknown',
    async (ids) => {
      const { storage, network, ids: stored } = await open(sqliteKinds['a D1 binding']!);
      expect(await storage.create(rosa(9), context)).toBe('created');
      for (const prefix of ['D1_ERROR: ', '']) {
        network.next = 'reset when done';
        network.prefix = prefix;
        const outcomes = await Promise.allSettled(ids.map((id) => storage.create(rosa(id), context)));
        for (const outcome of outcomes)
          expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'Error' } });
        expect(stored()).toEqual([...ids, 9].map(String));
      }
    },
  );

  it('and that has stored nothing: the creates are rejected', async () => {
    const { storage, network, ids } = await open(sqliteKinds['a D1 binding']!);
    expect(await storage.create(rosa(9), context)).toBe('created');
    network.next = 'reset unsent';
    await expect(storage.create(rosa(1), context)).rejects.toMatchObject({ name: 'RolledBack' });
    expect(ids()).toEqual(['9']);
  });
});

describe('a client of @libsql/client that opens a file without `timeout`', () => {
  it('is told by check, and by one warning, what to write', async () => {
    const line = 'createClient({ url, timeout: 5_000 })';
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const { storage, handle } = await open(sqliteKinds['@libsql/client']!);
    Object.assign(handle, { protocol: 'file' });
    const ofFile = sqliteStorage(handle);
    for (const id of [1, 2, 3]) expect(await ofFile.create(rosa(id), context)).toBe('created');
    expect(warn.mock.calls).toEqual([[expect.stringContaining(line), { code: 'PLANT_STORE_SQLITE' }]]);
    await expect(ofFile.check()).rejects.toThrow(line);
    await storage.check();
  });
});

describe.each(kinds.filter(([, { sharesConnection }]) => sharesConnection))(
  '%s in a transaction of the app',
  (_, kind) => {
    it.each([1, 3])('fails the creates of %i plants, and changes nothing of it', async (count) => {
      const { storage, run, ids } = await open(kind);
      expect(await storage.create(rosa(9), context)).toBe('created');
      await run("BEGIN; INSERT INTO plants (id, name) VALUES (99, 'Acer')");
      const creating = Array.from({ length: count }, (_, id) => storage.create(rosa(id), context));
      for (const outcome of await Promise.allSettled(creating))
        expect(outcome).toMatchObject({
          reason: {
            name: 'StorageBusy',
            message: 'the connection already has an open transaction: give plant-store its own connection',
          },
        });
      await run('COMMIT');
      expect(ids()).toEqual(['9', '99']);
      expect(await storage.create(rosa(1), context)).toBe('created');
    });
  },
);

describe.each(farAway)('%s whose message is lost', (_, kind) => {
  it.each([[[1]], [[1, 2, 3]]])('after the database has stored %j: unknown, and then taken', async (ids) => {
    const { storage, network, batches, ids: stored } = await open(kind);
    expect(await storage.create(rosa(9), context)).toBe('created');
    network.next = 'lost after it was done';
    const outcomes = await Promise.allSettled(ids.map((id) => storage.create(rosa(id), context)));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ reason: { name: 'Error', cause: { message: 'fetch failed' } } });
    expect(batches).toContain('unknown');
    expect(stored()).toEqual([...ids, 9].map(String));
    expect(await storage.create(rosa(ids[0]!), context)).toBe('taken');
  });

  it('before the database has got it: unknown, not stored, and then created', async () => {
    const { storage, network, ids } = await open(kind);
    expect(await storage.create(rosa(9), context)).toBe('created');
    network.next = 'lost before it was sent';
    await expect(storage.create(rosa(1), context)).rejects.toMatchObject({
      name: 'Error',
      cause: { message: 'fetch failed' },
    });
    expect(ids()).toEqual(['9']);
    expect(await storage.create(rosa(1), context)).toBe('created');
  });

  it('after a COMMIT that says it has failed, and has not: the plants are found, so that they are not sent again', async () => {
    const { storage, network, ids } = await open(kind);
    expect(await storage.create(rosa(9), context)).toBe('created');
    network.next = 'failed when done';
    await expect(storage.create(rosa(1), context)).rejects.toMatchObject({
      message: expect.stringContaining('are stored'),
      cause: { code: 'SQLITE_IOERR' },
    });
    expect(ids()).toEqual(['1', '9']);
    network.next = 'failed unsent';
    expect(await storage.create(rosa(2), context)).toBe('created');
    expect(ids()).toEqual(['1', '2', '9']);
  });

  it('while the table is looked at: retried, and created', async () => {
    const { storage, network, batches } = await open(kind);
    network.next = 'lost after it was done';
    expect(await storage.create(rosa(1), context)).toBe('created');
    expect(batches).toEqual(['unavailable', 'settled']);
  });

  it('on the way of check: says so, and leaves nothing', async () => {
    const { storage, network, ids } = await open(kind);
    network.next = 'lost before it was sent';
    await expect(storage.check()).rejects.toMatchObject({
      name: 'StorageBusy',
      cause: { cause: { message: 'fetch failed' } },
    });
    expect(ids()).toEqual([]);
    await storage.check();
  });
});

it.each(['libsql', '@libsql/client', 'libsql/promise', 'sqlite3'])(
  'a file that may not be written, by %s: nothing is stored, and it says so',
  async (name) => {
    const { storage, other, run, ids } = await open(sqliteKinds[name]!);
    await run('PRAGMA query_only=ON');
    const why = 'SQLite cannot use its file. Open a database file that may be written';
    const setup = { name: 'SetupError', message: expect.stringContaining(why) };
    await expect(storage.check()).rejects.toMatchObject(setup);
    await expect(storage.create(rosa(1), context)).rejects.toMatchObject({ cause: setup });
    expect(ids()).toEqual([]);
    other.exec('BEGIN IMMEDIATE; ROLLBACK');
  },
);

it.each([...kinds, ...Object.entries(sqliteVariants)])(
  '%s: ids at both ends are exact, alone and in a batch',
  async (_, kind) => {
    const { storage, ids: stored } = await open(kind);
    const ids = [-(2n ** 63n), -(2n ** 53n) - 1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 2n];
    const last = rosa(2n ** 63n - 1n);
    const createAll = () => Promise.all(ids.map((id) => storage.create(rosa(id), context)));
    expect(await createAll()).toEqual(ids.map(() => 'created'));
    expect(await storage.create(last, context)).toBe('created');
    expect(stored()).toEqual([...ids, last.id].map(String));
    expect(await createAll()).toEqual(ids.map(() => 'taken'));
    expect(await storage.find(last.id, context)).toEqual({ ...last, tag: undefined });
    await storage.check();
  },
);
