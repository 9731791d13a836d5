import mysql, { type Connection, type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise';
import type { NewPlant } from 'plant-store';
import { type MysqlConnection, mysqlStorage, schemaOf } from 'plant-store/mysql';
import { storageCases } from 'plant-store/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import {
  itKeepsNamespacesApart,
  itStoresExactly,
  mysqlCases,
  namespaceIn,
  type TableDatabase,
} from '../../storages/columns.js';
import { context } from '../../storages/context.js';
import { itTakesOtherNames } from '../../storages/names.js';
import { itStoresOwnColumns } from '../../storages/own-columns.js';
import { itSaysWhatToDo } from '../../storages/setup.js';
import { Creators } from '../../support/creators.js';
import { Doorway } from '../../support/doorway.js';
import { initProgram } from '../../support/init-program.js';
import { expectExactPlants } from '../../support/plants.js';
import { freePort, portOf, startExample, urlOf } from '../../support/program.js';
import { plantOf, withColumns } from '../../support/tables.js';
import { waitFor } from '../../support/wait-for.js';
import { type MariaDb, oneMariaDb } from './galera.js';
import { clean } from './machine.js';

/** Modes that change what a quote, a backslash, a space or a bar means. */
const sqlModes = [
  '',
  'ANSI_QUOTES',
  'NO_BACKSLASH_ESCAPES',
  'ANSI_QUOTES,NO_BACKSLASH_ESCAPES',
  'ANSI',
  'ORACLE',
  'MSSQL',
  'DB2',
  'PIPES_AS_CONCAT',
  'IGNORE_SPACE',
  'HIGH_NOT_PRECEDENCE',
  'TRADITIONAL',
];

/** As names of tables and columns, and as values. */
const hostileTexts = [
  ...[
    "it's",
    'a"b',
    'a`b',
    'a\\',
    "\\'; DROP TABLE victim; -- x",
    '`; DROP TABLE victim; -- x',
    '"; DROP TABLE victim; #',
  ],
  ...['/*', '*/ 1', '--', '#', '?', '??', ':id', '$1', '%s', '@@version', '``', "''", 'select', 'É'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'],
];

describe.skipIf(inject('obstacle'))('mysqlStorage on one MariaDB', () => {
  let server: MariaDb;
  /** Looks behind the storages. */
  let behind: Connection;
  const pools: Pool[] = [];
  let tables = 0;

  beforeAll(async () => {
    server = await oneMariaDb();
  });
  beforeEach(async () => {
    behind = await mysql.createConnection(server.url);
    // Some tests end the server.
    behind.on('error', () => {});
  });
  afterEach(async () => {
    behind.destroy();
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
  });
  afterAll(() => server && clean([server.daemon], server.daemon.folder));

  function poolOf(options: PoolOptions = {}): Pool {
    const pool = mysql.createPool({ uri: server.url, ...options });
    pools.push(pool);
    return pool;
  }

  async function openTable(pool: Pool, table = `plants ${tables++}`) {
    const storage = mysqlStorage(pool, { table });
    await storage.createTable();
    const peek = async (id: bigint): Promise<NewPlant | undefined> => {
      const sql = `SELECT *, CAST(id AS CHAR) AS id FROM \`${table.replaceAll('`', '``')}\` WHERE id = ${id}`;
      const [[row]] = await behind.query<RowDataPacket[]>(sql);
      return plantOf(row);
    };
    const makeNamesUnique = () =>
      behind.query(`ALTER TABLE \`${table.replaceAll('`', '``')}\` ADD UNIQUE (name(100))`);
    return { storage, caller: 'anyone', peek, table, makeNamesUnique };
  }

  async function statements(): Promise<number> {
    return Number((await server.query("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'"))[0]?.[1]);
  }

  /** How the tables of cases use this server. */
  const through = (pool: Pool): TableDatabase => ({
    mark: '`',
    alike: ['VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci', 'Garden', 'gARDEN'],
    maxName: 64,
    schemaOf,
    asText: (column) => `CAST(${column} AS CHAR)`,
    newTable: () => `columns ${tables++}`,
    run: (sql: string) => behind.query(sql),
    rows: async (sql: string) => (await behind.query<RowDataPacket[]>(sql))[0],
    storage: (options) => mysqlStorage<unknown>(pool, options as never),
  });

  describe.each([undefined, 'PAD_CHAR_TO_FULL_LENGTH,ANSI_QUOTES'])(
    'columns, in the SQL mode %j,',
    (mode) => {
      let pool: Pool;
      beforeEach(() => {
        pool = poolOf();
        if (mode) pool.on('connection', (connection) => connection.execute(`SET sql_mode = '${mode}'`));
      });
      const database = () => through(pool);
      itStoresOwnColumns(database);
      itTakesOtherNames(database);
      itStoresExactly(database, mysqlCases);
      itKeepsNamespacesApart(namespaceIn(database));
    },
  );

  it('is what plant-store init writes for MySQL, once its migration has run', async () => {
    const { sql, start } = initProgram({ host: 'node', database: 'mysql' });
    await behind.query(sql);
    await expectExactPlants(await urlOf(start({ DATABASE_URL: server.url })));
    await behind.query('DROP TABLE plants');
  });

  it.each<[why: string, statement: string, options?: PoolOptions]>([
    ['the character set latin1, which changes texts', 'DO 0', { charset: 'latin1' }],
    ['EMPTY_STRING_IS_NULL, which loses empty texts', "SET sql_mode = 'EMPTY_STRING_IS_NULL'"],
    ['READ UNCOMMITTED', 'SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED'],
    ['autocommit is off', 'SET autocommit = 0'],
  ])('cannot be used through a pool whose sessions break a promise: %s', async (why, statement, options) => {
    const { table } = await openTable(poolOf());
    const pool = poolOf(options);
    pool.on('connection', (connection) => connection.execute(statement));
    const { create } = mysqlStorage(pool, { table });
    const error = await create({ id: 1n, name: '\u{1f331}', tag: '' }, context).catch((thrown) => thrown);
    expect((error.cause ?? error).message).toContain(why);
  });

  it.each(sqlModes)('quotes hostile names and binds hostile values in the SQL mode %j', async (mode) => {
    const pool = poolOf();
    pool.on('connection', (connection) => connection.query(`SET sql_mode = '${mode}'`));
    const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``;
    await behind.query("CREATE TABLE IF NOT EXISTS victim (id INT) COMMENT 'to be dropped by an injection'");
    for (const text of hostileTexts) {
      const [table, tenant, further] = [`${text} ${tables++}`, `tenant ${text}`, `further ${text}`];
      const options = {
        table,
        namespace: { [tenant]: () => text },
        columns: { [further]: () => text },
      };
      await behind.query(schemaOf(options));
      const storage = mysqlStorage(pool, options);
      const plants = [1n, 2n, 3n].map((id) => ({ id, name: text, tag: text }));
      expect(await storage.create(plants[0]!, context)).toBe('created');
      const others = plants.slice(1).map((plant) => storage.create(plant, context));
      expect(await Promise.all(others)).toEqual(['created', 'created']);
      expect(await storage.find(2n, context)).toEqual(plants[1]);
      const columns = [tenant, further].map(quoted);
      const sql = `SELECT id, name, tag, ${columns} FROM ${quoted(table)} ORDER BY id`;
      const [rows] = await behind.query<RowDataPacket[][]>({ sql, rowsAsArray: true });
      expect(rows).toEqual([1, 2, 3].map((id) => [id, text, text, text, text]));
    }
    await behind.query('SELECT id FROM victim');
  });

  it('looks at its own table alone, however many others the server has', async () => {
    const { table } = await openTable(poolOf());
    const looks: string[] = [];
    const pool = poolOf();
    const watched = {
      async getConnection() {
        const connection = await pool.getConnection();
        const execute: MysqlConnection['execute'] = (statement, values) => {
          if (typeof statement === 'object' && statement.sql.includes('information_schema'))
            looks.push(mysql.format(statement.sql, values));
          return connection.execute(statement as never, values as never);
        };
        return Object.assign(Object.create(connection), { execute }) as MysqlConnection;
      },
    };
    expect(await mysqlStorage(watched, { table }).create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(looks).not.toEqual([]);
    for (const look of looks) {
      const plan = JSON.stringify((await behind.query(`EXPLAIN ${look}`))[0]);
      expect(plan).toContain('Scanned 0 databases');
      expect(plan).not.toMatch(/Scanned (1 database|all)/);
    }
  });

  it('keeps few prepared statements for 1 000 storages on one pool', async () => {
    const pool = poolOf({ connectionLimit: 2 });
    const { table } = await openTable(pool);
    const before = await statements();
    for (let id = 0n; id < 1_000n; id++) {
      const { create, find } = mysqlStorage(pool, { table });
      for (const n of [0n, 1n, 2n]) await create({ id: 3n * id + n, name: 'Rosa' }, context);
      for (const n of [0n, 1n, 2n]) expect(await find(3n * id + n, context)).toMatchObject({ name: 'Rosa' });
    }
    expect((await statements()) - before).toBeLessThanOrEqual(2 * 32);
  });

  it('tells for certain that nothing was stored while its table is locked, and leaves no waiting process behind', async () => {
    const pool = poolOf({ connectionLimit: 2 });
    const { table, peek } = await openTable(pool);
    const storage = mysqlStorage(pool, { table, timeoutMs: 1_000 });
    await storage.create({ id: 0n, name: 'Rosa' }, context);
    await behind.query(`LOCK TABLES \`${table}\` WRITE`);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => storage.create({ id: BigInt(i + 1), name: 'Rosa' }, context)),
    );
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { name: 'StorageBusy' } });
    const waiting = await server.query(
      "SELECT ID FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting%'",
    );
    expect(waiting.length).toBeLessThanOrEqual(2);
    await behind.query('UNLOCK TABLES');
    expect(await peek(1n)).toBe(undefined);
    await waitFor(async () =>
      expect(await storage.create({ id: 9n, name: 'Rosa' }, context)).toBe('created'),
    );
  });

  itSaysWhatToDo({
    schemaOf,
    open: (options) => mysqlStorage(poolOf(), options),
    run: (sql) => behind.query(sql),
  });

  it('calls the execute that an app has put on the prototype of the connections, to count or to comment', async () => {
    const pool = poolOf();
    const { storage } = await openTable(pool);
    const connection = await pool.getConnection();
    const prototype = Object.getPrototypeOf(Object.getPrototypeOf(connection));
    connection.release();
    const seen: string[] = [];
    const { execute } = prototype;
    prototype.execute = function (
      this: unknown,
      statement: string | { readonly sql: string },
      ...rest: unknown[]
    ) {
      seen.push(typeof statement === 'string' ? statement : statement.sql);
      return execute.call(this, statement, ...rest);
    };
    try {
      for (const id of [1n, 2n, 3n]) await storage.create({ id, name: 'Rosa' }, context);
    } finally {
      prototype.execute = execute;
    }
    expect(seen.filter((sql) => /\bINSERT .*INTO/.test(sql))).toHaveLength(3);
  });

  it('retries a create whose trigger reads a record that has changed since its snapshot', async () => {
    const pool = poolOf();
    pool.on('connection', (connection) => connection.execute('SET innodb_snapshot_isolation = ON'));
    const { storage, table } = await openTable(pool);
    const count = `count ${tables++}`;
    await behind.query(`CREATE TABLE \`${count}\` (n INT NOT NULL)`);
    await behind.query(`INSERT INTO \`${count}\` VALUES (0)`);
    await behind.query(`CREATE TRIGGER \`of ${count}\` BEFORE INSERT ON \`${table}\` FOR EACH ROW BEGIN
      DECLARE now_there INT; SELECT n INTO now_there FROM \`${count}\`; UPDATE \`${count}\` SET n = n + 1; END`);
    // All wait for one record, so the last waits for the transactions of all others, on a machine that has other things to do.
    const timeoutMs = 60_000;
    const rivals = Array.from({ length: 4 }, () => mysqlStorage(pool, { table, maxBatch: 1, timeoutMs }));
    const creates = rivals.flatMap(({ create }, rival) =>
      Array.from({ length: 50 }, (_, i) => create({ id: BigInt(rival * 50 + i), name: 'Rosa' }, context)),
    );
    expect(new Set(await Promise.all(creates))).toEqual(new Set(['created']));
    expect(await storage.find(199n, context)).toMatchObject({ name: 'Rosa' });
  });

  it('rejects a column whose character set changes characters, and tells of it by check', async () => {
    const { table, storage } = await openTable(poolOf());
    await behind.query(`ALTER TABLE \`${table}\` MODIFY name VARCHAR(100) CHARACTER SET cp932 NOT NULL`);
    const why =
      'its column name is in cp932_japanese_ci, which changes some characters. Convert it to utf8mb4';
    await expect(storage.check()).rejects.toThrow(why);
    await expect(storage.create({ id: 1n, name: '\u2225' }, context)).rejects.toMatchObject({
      cause: { message: expect.stringContaining(why) },
    });
  });

  it('createTable tells a role without CREATE what to grant', async () => {
    await behind.query("CREATE OR REPLACE USER reader@'127.0.0.1' IDENTIFIED BY 'reader'");
    await behind.query("GRANT SELECT ON plants.* TO reader@'127.0.0.1'");
    const pool = poolOf({ uri: server.url.replace('plants:plants', 'reader:reader') });
    const { createTable } = mysqlStorage(pool, { table: 'none yet' });
    await expect(createTable()).rejects.toThrow(
      /its user may not CREATE\. It needs GRANT CREATE ON the database\.\* TO/,
    );
  });

  describe('assumes of mysql2', () => {
    it('that a result of a statement without rows has the status of the server: autocommit, and a transaction', async () => {
      const connection = await poolOf().getConnection();
      const statusOf = async (sql: string) =>
        ((await connection.execute(sql))[0] as { readonly serverStatus?: number }).serverStatus;
      expect(await statusOf('DO 0')).toBe(2);
      await connection.query('BEGIN');
      expect(await statusOf('DO 0')).toBe(3);
      await connection.query('ROLLBACK');
      connection.release();
    });

    it('that the `connection` of two checkouts is one, and that unprepare takes what execute took', async () => {
      const pool = poolOf({ connectionLimit: 1 });
      const first = (await pool.getConnection()) as unknown as MysqlConnection;
      const before = await statements();
      const statement = {
        sql: 'DO 7',
        rowsAsArray: false,
        nestTables: false,
        typeCast: (_: unknown, next: () => unknown) => next(),
      };
      await first.execute(statement, []);
      expect(await statements()).toBe(before + 1);
      first.unprepare(statement);
      first.release();
      const second = (await pool.getConnection()) as unknown as MysqlConnection;
      expect(second.connection).toBe(first.connection);
      await second.execute({ ...statement, sql: 'DO 8' }, []);
      await waitFor(async () => expect(await statements()).toBe(before + 1));
      second.release();
    });
  });

  // Each a setting of somebody's app that must not matter.
  const poolOptions: Record<string, PoolOptions> = {
    'as mysql2 comes': {},
    'with rows as arrays': { rowsAsArray: true },
    'with rows nested by table': { nestTables: true },
    'with named placeholders': { namedPlaceholders: true },
    'with numbers as texts': { supportBigNumbers: true, bigNumberStrings: true },
    'with one connection': { connectionLimit: 1 },
    'with raw values': { typeCast: false },
    'with a typeCast of its own': { typeCast: (field) => field.buffer() },
  };
  describe.each(Object.entries(poolOptions))('a pool %s', (_, options) => {
    for (const { id, name, run } of storageCases(() => openTable(poolOf(options)))) it(`${id}: ${name}`, run);
  });

  describe('a table in partitions', () => {
    const openPartitions = async () => {
      const opened = await openTable(poolOf());
      await behind.query(`ALTER TABLE \`${opened.table}\` PARTITION BY KEY (id) PARTITIONS 4`);
      // Each unique index of such a table must have the id.
      return { ...opened, makeNamesUnique: undefined };
    };
    for (const { id, name, run } of storageCases(openPartitions)) it(`${id}: ${name}`, run);
  });

  const trigger =
    (statement: string, definer = 'plants') =>
    (table: string) => [
      'CREATE TABLE IF NOT EXISTS audit (n INT)',
      "CREATE USER IF NOT EXISTS gardener@'127.0.0.1'",
      `GRANT SELECT, INSERT, TRIGGER ON \`${table}\` TO gardener@'127.0.0.1'`,
      `CREATE DEFINER = ${definer}@'127.0.0.1' TRIGGER \`weed ${table}\` BEFORE INSERT ON \`${table}\`
      FOR EACH ROW BEGIN IF new.name = 'nettle' THEN ${statement}; END IF; END`,
    ];
  const writes = 'INSERT INTO audit VALUES (1)';
  it.each<[string, (table: string) => string[], number, number]>([
    ['a CHECK rejects', (table) => [`ALTER TABLE \`${table}\` ADD CHECK (name <> 'nettle')`], 0, 4025],
    [
      'has the name of another, where names are unique',
      (table) => [
        `INSERT INTO \`${table}\` (id, name) VALUES (100, 'nettle')`,
        `ALTER TABLE \`${table}\` ADD UNIQUE (name(20))`,
      ],
      0,
      1062,
    ],
    ['a trigger rejects with SIGNAL', trigger("SIGNAL SQLSTATE '45000'"), 0, 1644],
    ['takes longer than max_statement_time', trigger('SET @slept = SLEEP(30)'), 0.2, 1969],
    // Not a fault of the table of the plants.
    ['makes a trigger write where it has no grant', trigger(writes, 'gardener'), 0, 1142],
    ['makes a trigger write to no table', trigger(writes.replace('audit', 'audits')), 0, 1146],
    ['makes a trigger write to no column', trigger(writes.replace('audit', 'audit (who)')), 0, 1054],
  ])('rejects a plant that %s, and stores the other 19 of its batch', async (_, changes, seconds, errno) => {
    const { peek, table } = await openTable(poolOf());
    for (const change of changes(table)) await behind.query(change);
    const hurried = poolOf();
    hurried.on('connection', (connection) => connection.execute(`SET max_statement_time = ${seconds}`));
    const { create } = mysqlStorage(hurried, { table });
    const plants = Array.from({ length: 20 }, (_, i) => ({
      id: BigInt(i),
      name: i === 7 ? 'nettle' : `Rosa ${i}`,
    }));
    const outcomes = await Promise.allSettled(plants.map((plant) => create(plant, context)));
    expect(outcomes[7]).toMatchObject({ reason: { cause: { errno } } });
    for (const [i, plant] of plants.entries()) {
      if (i !== 7) expect(outcomes[i]).toMatchObject({ value: 'created' });
      expect(await peek(plant.id)).toEqual(i === 7 ? undefined : plant);
    }
  });

  describe('a max_allowed_packet of 1 MiB', () => {
    beforeAll(() => server.query('SET GLOBAL max_allowed_packet = 1048576'));
    afterAll(() => server.query('SET GLOBAL max_allowed_packet = DEFAULT'));

    it('stores batches of long texts; a plant that does not fit alone is rejected without harm to others', async () => {
      const { storage, peek } = await openTable(poolOf());
      const refused: unknown[] = [];
      for (let round = 0; round < 5; round++) {
        const plants = Array.from({ length: 20 }, (_, i) => ({
          id: BigInt(round * 100 + i),
          name: '\u20ac'.repeat(i === 7 ? 400_000 : 100_000),
        }));
        const outcomes = await Promise.allSettled(plants.map((plant) => storage.create(plant, context)));
        for (const [i, outcome] of outcomes.entries()) {
          if (i === 7) refused.push(outcome.status);
          else expect(outcome).toEqual({ status: 'fulfilled', value: 'created' });
        }
      }
      expect(refused).toEqual(Array(5).fill('rejected'));
      expect((await peek(19n))?.name).toHaveLength(100_000);
    });
  });

  it('keeps few prepared statements, however many sizes its batches have', async () => {
    const { storage } = await openTable(poolOf());
    const before = await statements();
    for (let size = 1n; size <= 60n; size++) {
      const ids = Array.from({ length: Number(size) }, (_, i) => 1_000n * size + BigInt(i));
      // Once more, when one of them is taken.
      for (const first of [0n, size - 1n])
        await Promise.all(ids.map((id) => storage.create({ id: id + first, name: 'Rosa' }, context)));
    }
    expect((await statements()) - before).toBeLessThan(10);
  });

  it('retries a create whose id another transaction has locked, and creates its neighbours meanwhile', async () => {
    const { storage, peek, table } = await openTable(poolOf());
    const other = await poolOf().getConnection();
    await other.beginTransaction();
    await other.query(`INSERT INTO \`${table}\` (id, name) VALUES (7, 'held')`);
    const start = performance.now();
    const locked = storage.create({ id: 7n, name: 'Rosa' }, context);
    const neighbours = Array.from({ length: 20 }, (_, i) =>
      storage.create({ id: BigInt(i + 100), name: 'Rosa' }, context),
    );
    expect(await Promise.all(neighbours)).toEqual(Array(20).fill('created'));
    expect(performance.now() - start).toBeLessThan(1_000);
    await other.rollback();
    other.release();
    expect(await locked).toBe('created');
    expect(await peek(7n)).toEqual({ id: 7n, name: 'Rosa' });
  });

  it('a view without a column is told what to do, and no statement that fails on a view', async () => {
    const { table } = await openTable(poolOf());
    await behind.query(`CREATE VIEW \`of ${table}\` AS SELECT id, name FROM \`${table}\``);
    await expect(mysqlStorage(poolOf(), { table: `of ${table}` }).check()).rejects.toThrow(
      /it has no column tag\. .* If not, add it to the view$/,
    );
  });

  it('createTable needs no grant but CREATE, also if the table exists', async () => {
    await behind.query("GRANT CREATE ON *.* TO mason@'127.0.0.1' IDENTIFIED BY 'stone'");
    for (const table of ['wall', 'wall'])
      await openTable(poolOf({ user: 'mason', password: 'stone' }), table);
  });

  it.each(['MyISAM', 'Aria', 'MEMORY'])(
    'rejects a table of the engine %s, which cannot roll back',
    async (engine) => {
      const table = `plants ${tables++}`;
      const short = withColumns(schemaOf({ table }), { name: 'VARCHAR(100) NOT NULL', tag: 'VARCHAR(100)' });
      await behind.query(short.replace('InnoDB', engine));
      const storage = mysqlStorage(poolOf(), { table });
      const why = new RegExp(`\`${table}\`: its engine ${engine} has no transactions`);
      const creates = [1n, 2n].map((id) => storage.create({ id, name: 'Rosa' }, context));
      for (const create of creates) await expect(create).rejects.toMatchObject({ cause: { message: why } });
      await expect(storage.createTable()).rejects.toThrow(why);
      expect((await behind.query<RowDataPacket[][]>(`SELECT 1 FROM \`${table}\``))[0]).toEqual([]);
      const told = await storage.check().catch(({ message }: Error) => message);
      await behind.query(String(told).split('Run: ')[1]!);
      expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    },
  );

  it('stores nothing that a column would change after a session left the strict mode, and keeps its mode', async () => {
    const table = `plants ${tables++}`;
    const columns = { id: 'TINYINT AUTO_INCREMENT PRIMARY KEY', name: 'VARCHAR(10) NOT NULL' };
    await behind.query(withColumns(schemaOf({ table }), columns));
    const pool = poolOf({ connectionLimit: 1 });
    const { create, find } = mysqlStorage(pool, { table });
    expect(await create({ id: 7n, name: 'looked at' }, context)).toBe('created');
    await pool.query("SET SESSION sql_mode = ''");
    await expect(create({ id: 1n, name: 'exactly this name' }, context)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('too long') },
    });
    await expect(create({ id: 128n, name: 'large' }, context)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('Out of range') },
    });
    expect(await create({ id: 0n, name: 'zero' }, context)).toBe('created');
    expect(await find(0n, context)).toEqual({ id: 0n, name: 'zero', tag: undefined });
    for (const id of [1n, 127n]) expect(await find(id, context)).toBe(undefined);
    const [[row]] = await pool.query<RowDataPacket[]>(
      'SELECT @@SESSION.sql_mode AS mode, @@SESSION.innodb_lock_wait_timeout AS wait',
    );
    expect(row).toEqual({ mode: '', wait: 50 });
  });

  it.each([
    ['', 'an empty transaction'],
    ["INSERT INTO `{table}` (id, name) VALUES (1, 'lost'), (2, 'lost')", 'rows that may be rolled back'],
  ])(
    'discards a connection that came with a transaction of the app (%s%s): one create fails',
    async (insert) => {
      const { peek, table } = await openTable(poolOf());
      const pool = poolOf({ connectionLimit: 1 });
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      if (insert) await connection.query(insert.replace('{table}', table));
      connection.release();
      const { create } = mysqlStorage(pool, { table });
      const outcomes = await Promise.allSettled([1n, 2n].map((id) => create({ id, name: 'Rosa' }, context)));
      const failed = outcomes.filter(({ status }) => status === 'rejected');
      expect(failed).toMatchObject([{ reason: { name: 'StorageBusy', message: /open transaction/ } }]);
      const stored = await Promise.all([1n, 2n].map(peek));
      expect(stored.map(Boolean)).toEqual(outcomes.map(({ status }) => status === 'fulfilled'));
    },
  );

  it('creates plants after its network has vanished, as soon as connectTimeout has ended the logins that hang', async () => {
    const hole = await Doorway.before({ host: server.address, port: server.port });
    const { table } = await openTable(poolOf());
    const pool = mysql.createPool({
      uri: server.url.replace(String(server.port), String(hole.port)),
      connectionLimit: 2,
      connectTimeout: 2_000,
    });
    const storage = mysqlStorage(pool, { table, timeoutMs: 1_000 });
    let id = 0n;
    let isRunning = true;
    let lastCreated = 0;
    const clients = [1, 2, 3, 4].map(async () => {
      while (isRunning) {
        if ((await storage.create({ id: id++, name: 'Rosa' }, context).catch(() => '')) === 'created')
          lastCreated = performance.now();
        else await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
    await waitFor(() => expect(lastCreated).toBeGreaterThan(0));
    hole.vanish();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const healed = performance.now();
    hole.heal();
    await waitFor(() => expect(lastCreated).toBeGreaterThan(healed));
    isRunning = false;
    await Promise.all(clients);
    // It may still hold a hung login.
    await pool.end().catch(() => {});
    hole.close();
  });

  it('stores the plants of the demo server through DATABASE_URL', async () => {
    const programs = ['first', 'second'].map(() => startExample('server', { DATABASE_URL: server.url }));
    const creators = programs.map(async (program) => new Creators(await portOf(program)));
    const [first, second] = await Promise.all(creators);
    expect(await first?.create(1)).toMatchObject({ status: 200 });
    expect(await second?.create(1)).toMatchObject({ status: 400, body: expect.stringContaining('40003') });
    for (const { child } of programs) child.kill('SIGTERM');
    expect(await Promise.all(programs.map(({ exit }) => exit))).toEqual([0, 0]);
  });

  it("uses the next server of mysql2's pool cluster when one rejects connections", async () => {
    const { table, peek } = await openTable(poolOf());
    const cluster = mysql.createPoolCluster();
    const nobody = await freePort();
    cluster.add('a', { uri: server.url.replace(String(server.port), String(nobody)) });
    cluster.add('b', { uri: server.url });
    const storage = mysqlStorage(cluster.of('*', 'ORDER'), { table });
    expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(await peek(1n)).toEqual({ id: 1n, name: 'Rosa' });
    await cluster.end();
  });
});
