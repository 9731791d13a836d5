// SQLite through a driver that blocks: what only it meets, beside what `sqlite.test.ts` asks of each handle.
import { join } from 'node:path';
import Database from 'libsql';
import { type SqliteDatabase, type SqliteOptions, schema, sqliteStorage } from 'plant-store/sqlite';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newFolder } from '../support/run-folder.js';
import { driverOf, minimal } from '../support/sqlite.js';
import { withColumns } from '../support/tables.js';
import { waitFor } from '../support/wait-for.js';
import { context } from './context.js';

let folder: string;
const handles: Database.Database[] = [];

beforeEach(() => {
  folder = newFolder();
  return () => {
    for (const handle of handles.splice(0)) handle.close();
  };
});

/** Another handle on the same database, like that of another process. */
function open(): Database.Database {
  const handle = new Database(join(folder, 'plants.db'));
  handles.push(handle);
  return handle;
}

function rows(handle = open()): unknown[] {
  return handle.prepare('SELECT CAST(id AS TEXT) AS id, name, tag FROM plants ORDER BY id').all();
}

/** Settles several creates: a lone create has a statement of its own. */
const ways: [
  string,
  (creates: readonly (() => Promise<unknown>)[]) => Promise<PromiseSettledResult<unknown>[]>,
][] = [
  ['in one batch', (creates) => Promise.allSettled(creates.map((create) => create()))],
  [
    'one after the other',
    async (creates) => {
      const results = [];
      for (const create of creates) results.push(...(await Promise.allSettled([create()])));
      return results;
    },
  ],
];

const busy = expect.objectContaining({ code: 'SQLITE_BUSY' });

/** Another handle, and a promise that it has found the database locked. */
function watched() {
  const database = open();
  const exec = vi.spyOn(database, 'exec');
  const blocked = () =>
    waitFor(() => expect(exec.mock.results).toContainEqual({ type: 'throw', value: busy }));
  return { database, blocked };
}

describe('a driver that blocks', () => {
  const storageOf = (database: SqliteDatabase, options?: SqliteOptions) =>
    sqliteStorage(minimal(database as Database.Database), options);

  it.each([
    ['is gone', 'DROP TABLE plants'],
    ['has lost a column', 'DROP TABLE plants; CREATE TABLE plants (id INTEGER, title TEXT, tag TEXT)'],
  ])('a find that fails because the table %s leaves a transaction of the app open', async (_, change) => {
    const database = open();
    const { create, createTable, find } = storageOf(database);
    await createTable();
    await create({ id: 1n, name: 'Rosa' }, context);
    database.exec(`${change}; CREATE TABLE log (n INTEGER); BEGIN; INSERT INTO log VALUES (7)`);
    await expect(find(1n, context)).rejects.toMatchObject({ name: 'RolledBack' });
    expect(database.inTransaction).toBe(true);
    database.exec('COMMIT');
    expect(database.prepare('SELECT n FROM log').all()).toEqual([{ n: 7 }]);
  });

  it('is asked whether it blocks by one SELECT, and for nothing else, when the storage is made', () => {
    const database = open();
    const [prepare, exec] = [vi.spyOn(database, 'prepare'), vi.spyOn(database, 'exec')];
    sqliteStorage(database);
    expect(prepare.mock.calls).toEqual([['SELECT 1']]);
    expect(exec).not.toHaveBeenCalled();
  });

  it('gets all creates of an iteration of the event loop in one batch', async () => {
    const sizes: number[] = [];
    const { create, createTable } = storageOf(open(), { onBatch: ({ plants }) => void sizes.push(plants) });
    await createTable();
    const creating: Promise<unknown>[] = [];
    for (const id of [1n, 2n, 3n]) {
      creating.push(create({ id, name: 'Rosa' }, context));
      for (let i = 0; i < 20; i++) await null;
    }
    await Promise.all(creating);
    expect(sizes).toEqual([3]);
  });

  it('ids are exact although the app lets JSON round every bigint', async () => {
    const { create, createTable } = storageOf(open());
    await createTable();
    const ids = [2n ** 53n, 2n ** 53n + 1n];
    Object.assign(BigInt.prototype, { toJSON: Number.prototype.valueOf.bind(0) });
    await Promise.all(ids.map((id) => create({ id, name: '' }, context)));
    Reflect.deleteProperty(BigInt.prototype, 'toJSON');
    expect(rows()).toMatchObject(ids.map((id) => ({ id: String(id) })));
  });

  describe('another connection that writes', () => {
    it('makes find fail for now: the client may retry', async () => {
      const storage = storageOf(open());
      await storage.createTable();
      const other = open();
      other.exec('BEGIN EXCLUSIVE');
      await expect(storage.find(1n, context)).rejects.toMatchObject({ reason: 'conflict', cause: busy });
      other.exec('COMMIT');
      expect(await storage.find(1n, context)).toBe(undefined);
    });

    it('makes the create wait while its read blocks COMMIT (rollback journal)', async () => {
      const { database, blocked } = watched();
      const storage = storageOf(database);
      await storage.createTable();
      const reader = open();
      reader.exec('BEGIN');
      expect(rows(reader)).toEqual([]);
      const creating = storage.create({ id: 2n, name: 'second' }, context);
      await blocked();
      expect(rows(reader)).toEqual([]);
      reader.exec('COMMIT');
      expect(await creating).toBe('created');
      expect(rows()).toHaveLength(1);
    });

    it.each([
      ['libsql and better-sqlite3', { code: 'SQLITE_BUSY' }],
      ['libsql and better-sqlite3, as an extended code', { code: 'SQLITE_BUSY_SNAPSHOT' }],
      ['node:sqlite', { code: 'ERR_SQLITE_ERROR', errcode: 5 }],
      ['node:sqlite, as an extended code', { code: 'ERR_SQLITE_ERROR', errcode: 517 }],
      ['libsql in a shared cache', { code: 'SQLITE_LOCKED_SHAREDCACHE' }],
      ['node:sqlite in a shared cache', { code: 'ERR_SQLITE_ERROR', errcode: 262 }],
    ])('makes the create wait, as %s reports it', async (_, properties) => {
      const database = open();
      const { create, createTable } = storageOf(database);
      await createTable();
      const locked = Object.assign(new Error('database is locked'), properties);
      vi.spyOn(database, 'exec').mockImplementationOnce(() => {
        throw locked;
      });
      expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
      expect(rows()).toHaveLength(1);
    });
  });

  describe.each(ways)("a table of the app's own, %s,", (_, settle) => {
    it.each(['ROLLBACK', 'ABORT', 'FAIL'])(
      'whose trigger raises %s stores nothing of that plant, and does not harm the others',
      async (action) => {
        const database = open();
        database.exec(`${schema}; CREATE TABLE log (name TEXT);
        CREATE TRIGGER no_nettles AFTER INSERT ON plants
        BEGIN
          INSERT INTO log VALUES (new.name);
          SELECT RAISE(${action}, 'no nettles') WHERE new.name = 'Urtica';
        END`);
        const { create } = storageOf(database);
        const outcomes = await settle(
          ['Rosa', 'Urtica', 'Viola'].map((name, i) => () => create({ id: BigInt(i), name }, context)),
        );
        expect(outcomes).toMatchObject([
          { value: 'created' },
          { reason: { name: 'RolledBack', reason: 'rejected', cause: { message: /no nettles/ } } },
          { value: 'created' },
        ]);
        expect(rows()).toMatchObject([{ name: 'Rosa' }, { name: 'Viola' }]);
        expect(database.prepare('SELECT name FROM log').all()).toEqual([{ name: 'Rosa' }, { name: 'Viola' }]);
      },
    );

    it('whose triggers write rows too has the right outcomes, and each trigger ran once a create', async () => {
      const database = open();
      database.exec(`${schema}; CREATE TABLE log (name TEXT);
      CREATE TRIGGER before BEFORE INSERT ON plants BEGIN INSERT INTO log VALUES ('before ' || new.name); END;
      CREATE TRIGGER after AFTER INSERT ON plants BEGIN INSERT INTO log VALUES ('after ' || new.name); END`);
      const { create } = storageOf(database);
      await create({ id: 1n, name: 'Rosa' }, context);
      const outcomes = await settle([
        () => create({ id: 1n, name: 'Viola' }, context),
        () => create({ id: 2n, name: 'Malus' }, context),
      ]);
      expect(outcomes).toMatchObject([{ value: 'taken' }, { value: 'created' }]);
      const log = ['before Rosa', 'after Rosa', 'before Viola', 'before Malus', 'after Malus'];
      expect(database.prepare('SELECT name FROM log').all()).toEqual(log.map((name) => ({ name })));
    });
  });

  describe('a constraint that fails at COMMIT', () => {
    const open2 = () => {
      const database = open();
      database.exec(`PRAGMA foreign_keys=ON;
      CREATE TABLE tags (name TEXT PRIMARY KEY);
      ${withColumns(schema, { tag: 'TEXT REFERENCES tags (name) DEFERRABLE INITIALLY DEFERRED' })}`);
      return database;
    };

    it('rejects its plant alone, the others of its batch are stored, and no transaction stays open', async () => {
      const database = open2();
      const { create } = storageOf(database);
      const outcomes = await Promise.allSettled([
        create({ id: 1n, name: 'Rosa', tag: 'unknown' }, context),
        create({ id: 2n, name: 'Viola' }, context),
      ]);
      const rejected = {
        name: 'RolledBack',
        reason: 'rejected',
        cause: { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' },
      };
      expect(outcomes).toMatchObject([{ reason: rejected }, { value: 'created' }]);
      await expect(create({ id: 1n, name: 'Rosa', tag: 'unknown' }, context)).rejects.toMatchObject(rejected);
      expect([database.inTransaction, rows()]).toMatchObject([false, [{ name: 'Viola' }]]);
    });

    it('is retried if SQLite has rolled back by itself, with a taken id in the batch, too', async () => {
      const database = open2();
      let isFull = false;
      const { create } = storageOf({
        prepare: (sql) => database.prepare(sql),
        exec(sql) {
          if (sql !== 'COMMIT' || !isFull) return database.exec(sql);
          isFull = false;
          database.exec('ROLLBACK');
          throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
        },
      });
      expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
      isFull = true;
      const creating = [1n, 2n].map((id) => create({ id, name: 'Viola' }, context));
      expect(await Promise.all(creating)).toEqual(['taken', 'created']);
    });

    it('leaves the outcome unknown if the ROLLBACK fails, too', async () => {
      const database = open2();
      const { create } = storageOf({
        prepare: (sql) => database.prepare(sql),
        exec(sql) {
          if (sql === 'ROLLBACK') throw new Error('the disk is gone');
          return database.exec(sql);
        },
      });
      await expect(create({ id: 1n, name: 'Rosa', tag: 'unknown' }, context)).rejects.toMatchObject({
        name: 'Error',
        cause: { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' },
      });
    });
  });

  describe('the storage', () => {
    it('is unavailable at once after the app has closed the connection', async () => {
      const database = new Database(':memory:');
      database.close();
      const { create } = sqliteStorage(database);
      await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
        name: 'StorageBusy',
        message: 'the app has closed the database connection',
        cause: expect.any(Error),
      });
    });

    it('reads rows as objects where the connection returns arrays', async () => {
      const database = open();
      const driver = driverOf(database, (statement) => {
        if (statement.reader) statement.raw(true);
        return {
          setReturnArrays: (isEnabled: boolean) => void (statement.reader && statement.raw(isEnabled)),
        };
      });
      const { create, createTable, find } = sqliteStorage(driver);
      await createTable();
      expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
      expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('taken');
      expect(await find(1n, context)).toMatchObject({ name: 'Rosa' });
    });
  });

  it('sqliteStorage sets no pragma on the connection of the app', async () => {
    const database = open();
    const pragmas = ['journal_mode', 'synchronous', 'busy_timeout', 'foreign_keys', 'locking_mode'];
    const settings = () => pragmas.map((pragma) => database.prepare(`PRAGMA ${pragma}`).all());
    const before = settings();
    const storage = storageOf(database);
    await storage.createTable();
    await storage.create({ id: 1n, name: 'Rosa' }, context);
    expect(settings()).toEqual(before);
  });
});

it('a column that a trigger leaves empty for one plant rejects that plant, and what was tried to find that out is not stored', async () => {
  const database = new Database(':memory:');
  database.exec(`${schema}; CREATE TABLE labels (text TEXT NOT NULL);
    CREATE TRIGGER label AFTER INSERT ON plants BEGIN INSERT INTO labels VALUES (new.tag); END`);
  const { create } = sqliteStorage(database);
  await expect(create({ id: 9n, name: 'Rosa' }, context)).rejects.toMatchObject({
    reason: 'rejected',
    cause: { code: 'SQLITE_CONSTRAINT_NOTNULL' },
  });
  expect(rows(database)).toEqual([]);
  expect(database.inTransaction).toBe(false);
  expect(await create({ id: 1n, name: 'Rosa', tag: 'red' }, context)).toBe('created');
});

describe('a table that cannot be used is told by its reason', () => {
  it('triggers that drop the plant, by their names, also in a file whose name has a quotation mark', async () => {
    const database = new Database(':memory:');
    database.exec(
      `ATTACH ':memory:' AS "the ""garden"""; ${schema.replace('"plants"', '"the ""garden""".plants')}`,
    );
    for (const name of ['first', 'second'])
      database.exec(`CREATE TRIGGER "the ""garden""".${name} AFTER INSERT ON plants
        BEGIN DELETE FROM plants WHERE id = new.id; END`);
    const why =
      /does not have the plant after its INSERT: one of its triggers .*: (first, second|second, first)$/;
    await expect(sqliteStorage(database).check()).rejects.toThrow(why);
  });
});
