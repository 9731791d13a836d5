import { createPoolCluster as createCallbackCluster, createPool as createCallbackPool } from 'mysql2';
import { createPool, createPoolCluster } from 'mysql2/promise';
import { type MysqlConnection, type MysqlStatement, mysqlStorage, schema } from 'plant-store/mysql';
import { describe, expect, it } from 'vitest';
import { deferred } from '../support/deferred.js';
import { waitFor } from '../support/wait-for.js';

// What needs no server. test/programs/cluster runs the storage on real servers, alone and in a cluster.

const context = {
  caller: 'anyone',
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
};
const inserted = { serverStatus: 2 };

/**
 * A pool with prepared results of its statements, in order: an error to throw, rows, a result, or a promise of these. It
 * shows nothing of its tables.
 */
function answering(...answers: unknown[]) {
  const log: string[] = [];
  const statements: [sql: string, values: readonly unknown[], statement: string | MysqlStatement][] = [];
  const connection: MysqlConnection = {
    async execute(statement, values) {
      const sql = typeof statement === 'string' ? statement : statement.sql;
      if (sql.includes('information_schema')) return [[], undefined];
      statements.push([sql, values, statement]);
      log.push(`${/\b(INSERT|SELECT|CREATE|DO|ROLLBACK)\b/.exec(sql)?.[0]} ${values.join()}`);
      const answer = await (answers.shift() ?? inserted);
      if (answer instanceof Error) throw answer;
      return [answer, undefined];
    },
    unprepare() {},
    release: () => log.push('release'),
    destroy: () => log.push('destroy'),
  };
  return { log, statements, pool: { getConnection: async () => connection } };
}

function mysqlError(properties: {
  errno?: number;
  sqlState?: string;
  code?: string;
  fatal?: boolean;
}): Error {
  return Object.assign(new Error('from the driver'), properties);
}

describe('mysqlStorage', () => {
  it.each<[string, number, string]>([
    ['a deadlock, or a conflict between Galera nodes', 1213, '40001'],
    ['a node without its cluster', 1047, '08S01'],
    ['a server that became read-only', 1290, 'HY000'],
    ['a server that is full', 1040, '08004'],
    ['the server keeps no more prepared statements', 1461, '42000'],
    ['TiDB: a transaction to be retried', 8022, 'HY000'],
    ['TiDB: a write conflict', 9007, 'HY000'],
  ])('retries a batch that was definitely rolled back after this: %s', async (_, errno, sqlState) => {
    const { pool, log } = answering(mysqlError({ errno, sqlState }));
    const { create } = mysqlStorage(pool);
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(log).toEqual(['INSERT 1,Rosa,', 'release', 'INSERT 1,Rosa,', 'release']);
  });

  // A connection that the server still answers on is kept.
  const kept = ['release'];
  it.each([
    ['the commit itself failed', mysqlError({ errno: 1180, sqlState: 'HY000' }), kept],
    ['the statement was interrupted', mysqlError({ errno: 1317, sqlState: '70100' }), kept],
    ['the server shuts down', mysqlError({ errno: 1053, sqlState: '08S01' }), kept],
    ['the connection was killed', mysqlError({ errno: 1927, sqlState: '70100' }), kept],
    [
      'the server says no more than that something failed',
      mysqlError({ errno: 1105, sqlState: 'HY000' }),
      kept,
    ],
    ['a proxy has a number of its own, below', mysqlError({ errno: 999, sqlState: 'HY000' }), kept],
    ['a proxy has a number of its own, above', mysqlError({ errno: 8000, sqlState: 'HY000' }), kept],
    ['the connection was lost', mysqlError({ code: 'PROTOCOL_CONNECTION_LOST', fatal: true }), ['destroy']],
    ['the connection was refused in mid-use', mysqlError({ code: 'ECONNREFUSED', fatal: true }), ['destroy']],
    ['the driver timed out', mysqlError({ code: 'PROTOCOL_SEQUENCE_TIMEOUT' }), ['destroy']],
  ])('leaves an unknown outcome unknown and retries nothing after this: %s', async (_, error, then) => {
    const { pool, log } = answering(error);
    const { create } = mysqlStorage(pool);
    const creating = [1n, 2n].map((id) => create({ id, name: 'Rosa' }, context));
    for (const outcome of await Promise.allSettled(creating)) {
      expect(outcome).toEqual({ status: 'rejected', reason: error });
    }
    expect(log).toEqual(['INSERT 1,Rosa,,2,Rosa,', ...then]);
  });

  it.each([
    ['a trigger with SIGNAL', 1644, '45000'],
    ['a CHECK of MySQL', 3819, 'HY000'],
    ['a CHECK of MariaDB', 4025, '23000'],
    ['a full table', 1114, 'HY000'],
    ['a statement that took too long, for MariaDB', 1969, '70100'],
    ['a statement that took too long, for MySQL', 3024, 'HY000'],
    ['a column without a value', 1364, 'HY000'],
    ['a text that the character set lacks', 1366, '22007'],
    ['the first number of a server', 1000, 'HY000'],
    ['a SIGNAL whose state only looks like a lost connection', 1644, '45708'],
  ])(
    'sends plants one by one if the server rejected them, because one may be the cause: %s',
    async (_, errno, sqlState) => {
      const refused = mysqlError({ errno, sqlState });
      const { pool, log } = answering(refused, refused);
      const { create } = mysqlStorage(pool);
      const outcomes = [1n, 2n].map((id) => create({ id, name: 'Rosa' }, context));
      expect(await Promise.allSettled(outcomes)).toEqual([
        { status: 'rejected', reason: expect.objectContaining({ name: 'RolledBack', cause: refused }) },
        { status: 'fulfilled', value: 'created' },
      ]);
      expect(log).toEqual([
        'INSERT 1,Rosa,,2,Rosa,',
        'release',
        'INSERT 1,Rosa,',
        'release',
        'INSERT 2,Rosa,',
        'release',
      ]);
    },
  );

  it('sends plants one by one if a packet was too large, on other connections, because the server hangs up', async () => {
    const tooLarge = mysqlError({ errno: 1153, sqlState: '08S01' });
    const { pool, log } = answering(tooLarge, tooLarge);
    const { create } = mysqlStorage(pool);
    const outcomes = [1n, 2n].map((id) => create({ id, name: 'Rosa' }, context));
    expect(await Promise.allSettled(outcomes)).toMatchObject([
      { reason: { cause: tooLarge } },
      { value: 'created' },
    ]);
    expect(log).toEqual([
      'INSERT 1,Rosa,,2,Rosa,',
      'destroy',
      'INSERT 1,Rosa,',
      'destroy',
      'INSERT 2,Rosa,',
      'release',
    ]);
  });

  it('sends a batch that has to wait for a lock apart, and a plant alone again', async () => {
    const locked = mysqlError({ errno: 1205, sqlState: 'HY000' });
    const { pool, log } = answering(locked, locked);
    const { create } = mysqlStorage(pool);
    const outcomes = [1n, 2n].map((id) => create({ id, name: 'Rosa' }, context));
    expect(await Promise.all(outcomes)).toEqual(['created', 'created']);
    const inserts = log.filter((entry) => entry.startsWith('INSERT'));
    expect(inserts.sort()).toEqual([
      'INSERT 1,Rosa,',
      'INSERT 1,Rosa,',
      'INSERT 1,Rosa,,2,Rosa,',
      'INSERT 2,Rosa,',
    ]);
  });

  it('sends ids as text that is cast, because MySQL compares BIGINT with text as doubles', async () => {
    const duplicate = mysqlError({ errno: 1062, sqlState: '23000' });
    const { pool, statements } = answering(duplicate, inserted, [['1']], inserted, [['Rosa', null]]);
    const { create, find, createTable } = mysqlStorage(pool, { table: 'garden.a `table`' });
    await Promise.all([
      create({ id: 1n, name: 'Rosa', tag: 'red' }, context),
      create({ id: 2n, name: 'Viola' }, context),
    ]);
    await find(1n, context);
    await createTable();
    const table = '`garden`.`a ``table```';
    const text = 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
    const modes = "sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'";
    const insert = `/*M! SET STATEMENT ${modes}, innodb_lock_wait_timeout = 0, lock_wait_timeout = 0 FOR */ INSERT /*+ SET_VAR(${modes}) */ INTO`;
    const id = 'id = CAST(? AS DECIMAL(65))';
    expect(statements.map(([sql, values]) => [sql, values])).toEqual([
      [
        `${insert} ${table} (id, name, tag) VALUES (?, ?, ?),(?, ?, ?)`,
        ['1', 'Rosa', 'red', '2', 'Viola', null],
      ],
      ['DO 0', []],
      [`SELECT 0 FROM ${table} WHERE ${id} UNION ALL SELECT 1 FROM ${table} WHERE ${id}`, ['1', '2']],
      [`${insert} ${table} (id, name, tag) VALUES (?, ?, ?)`, ['1', 'Rosa', 'red']],
      [`SELECT plant.name, plant.tag FROM ${table} AS plant WHERE ${id}`, ['1']],
      [
        `CREATE TABLE IF NOT EXISTS ${table} (id BIGINT PRIMARY KEY, name ${text} NOT NULL, tag ${text}) ENGINE = InnoDB`,
        [],
      ],
    ]);
  });

  it('reads rows as it needs them, whatever the options of the pool for rows, tables and types', async () => {
    const { pool, statements } = answering([['Rosa', null]]);
    await mysqlStorage(pool).find(1n, context);
    const { rowsAsArray, nestTables, typeCast } = statements[0]![2] as MysqlStatement;
    expect([rowsAsArray, nestTables, typeCast({}, () => "the driver's own value")]).toEqual([
      true,
      false,
      "the driver's own value",
    ]);
  });

  it('sends nothing on a connection that comes after the timeout, and releases it', async () => {
    const { pool, log } = answering();
    let connect: () => void = () => {};
    const late = new Promise<void>((resolve) => {
      connect = resolve;
    });
    const { create } = mysqlStorage(
      { getConnection: () => late.then(pool.getConnection) },
      { timeoutMs: 50 },
    );
    await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({ name: 'StorageBusy' });
    connect();
    await waitFor(() => expect(log).toEqual(['release']));
  });

  it.each([
    ['a result', inserted],
    ['an error', mysqlError({ errno: 1213, sqlState: '40001' })],
  ])(
    'destroys a connection that does not respond, and only once, even if %s comes after the timeout',
    async (_, came) => {
      const late = deferred<unknown>();
      const { pool, log } = answering(late.promise);
      const { create } = mysqlStorage(pool, { timeoutMs: 50 });
      await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow('did not answer within 50 ms');
      const isDestroyed = () => expect(log).toEqual(['INSERT 1,Rosa,', 'destroy']);
      await waitFor(isDestroyed);
      late.resolve(came);
      await new Promise((resolve) => setImmediate(resolve));
      isDestroyed();
    },
  );

  it('fails if the connections do not autocommit, and destroys the connection', async () => {
    const { pool, log } = answering({ serverStatus: 1 });
    await expect(mysqlStorage(pool).create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow(
      'autocommit is off',
    );
    expect(log).toEqual(['INSERT 1,Rosa,', 'ROLLBACK ', 'destroy']);
  });

  it.each([
    ['with a tag', [['Rosa', 'red']], { id: 1n, name: 'Rosa', tag: 'red' }],
    ['without a tag', [['Rosa', null]], { id: 1n, name: 'Rosa', tag: undefined }],
    ['that is not stored', [], undefined],
  ])('finds a plant %s', async (_, rows, found) => {
    const { pool, log } = answering(rows);
    expect(await mysqlStorage(pool).find(1n, context)).toEqual(found);
    expect(log).toEqual(['SELECT 1', 'release']);
  });

  it('creates its table only when createTable is called', async () => {
    const { pool, log } = answering();
    const { createTable } = mysqlStorage(pool);
    expect(log).toEqual([]);
    await createTable();
    expect(log).toEqual(['CREATE ', 'release']);
  });

  it.each([
    ['a callback pool', createCallbackPool({})],
    ['a namespace of a callback pool cluster', createCallbackCluster().of('*')],
    ['a connection', { execute: async () => [] }],
    ['nothing', undefined],
  ])('throws at once for %s, and shows what to pass', (_, pool) => {
    expect(() => mysqlStorage(pool as never)).toThrow(
      new TypeError('mysqlStorage needs a mysql2/promise pool: pass pool.promise()'),
    );
  });

  it('accepts every pool of mysql2/promise', () => {
    expect(() => mysqlStorage(createPool({}))).not.toThrow();
    expect(() => mysqlStorage(createPoolCluster().of('*', 'ORDER'))).not.toThrow();
    expect(() => mysqlStorage(createCallbackPool({}).promise())).not.toThrow();
  });

  it('connects again when a connection is refused, because nothing was sent', async () => {
    const { pool, log } = answering();
    const refused = [
      mysqlError({ code: 'ECONNREFUSED', fatal: true }),
      mysqlError({ errno: 1040, sqlState: '08004' }),
    ];
    const { create } = mysqlStorage({
      getConnection: () => (refused.length > 0 ? Promise.reject(refused.shift()) : pool.getConnection()),
    });
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(log).toEqual(['INSERT 1,Rosa,', 'release']);
  });

  it.each([
    [1045, '28000', "Access denied for user 'plants'"],
    [1049, '42000', "Unknown database 'garden'"],
  ])(
    'rejects each create for good if the server refuses the login with %i',
    async (errno, sqlState, message) => {
      const denied = Object.assign(new Error(message), { errno, sqlState });
      const { create, find } = mysqlStorage({ getConnection: () => Promise.reject(denied) });
      const why = `plant-store cannot connect to the database: ${message}. Check user, password and database in the settings of the pool`;
      await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
        name: 'RolledBack',
        cause: { message: why, cause: denied },
      });
      await expect(find(1n, context)).rejects.toThrow(why);
    },
  );

  it.each([
    [
      1146,
      '42S02',
      "Table 'garden.plants' doesn't exist",
      'it does not exist. Call storage.createTable(), or run: npx plant-store schema mysql',
    ],
    [
      1142,
      '42000',
      'INSERT command denied to user',
      'INSERT command denied to user. Run: GRANT SELECT, INSERT ON `plants` TO …',
    ],
  ])(
    'rejects a batch at once if its table has a fault, and says what to do: %i',
    async (errno, sqlState, message, why) => {
      const { pool, log } = answering(Object.assign(new Error(message), { errno, sqlState }));
      const { create } = mysqlStorage(pool, { refuse: () => 'never asked' });
      const outcomes = await Promise.allSettled([1n, 2n].map((id) => create({ id, name: 'Rosa' }, context)));
      for (const outcome of outcomes)
        expect(outcome).toMatchObject({
          reason: {
            name: 'RolledBack',
            cause: { message: `plant-store cannot use the table \`plants\`: ${why}` },
          },
        });
      expect(log).toEqual(['INSERT 1,Rosa,,2,Rosa,', 'release']);
    },
  );

  it('fails at once after the app has ended its pool', async () => {
    const pool = createPool({});
    await pool.end();
    const { create } = mysqlStorage(pool);
    await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'StorageBusy',
      cause: { message: 'Pool is closed.' },
    });
  });

  it.each([
    ['its result', inserted],
    ['an error that it rolled back', mysqlError({ errno: 1213, sqlState: '40001' })],
  ])('survives a connection that has closed when it drops a statement, after %s', async (_, came) => {
    const { pool, log } = answering(came);
    const connection = await pool.getConnection();
    connection.unprepare = () => {
      throw new Error("Can't add new command when connection is in closed state");
    };
    const { create } = mysqlStorage(pool);
    const outcomes = [1n, 2n].map((id) => create({ id, name: 'Rosa' }, context));
    expect(await Promise.all(outcomes)).toEqual(['created', 'created']);
    expect(log).toContain('INSERT 1,Rosa,,2,Rosa,');
  });

  it('asks which ids are stored if one is, and sends the other plants again', async () => {
    const { pool, log } = answering(mysqlError({ errno: 1062, sqlState: '23000' }), inserted, [['1']]);
    const { create } = mysqlStorage(pool);
    const outcomes = [1n, 2n, 3n].map((id) => create({ id, name: 'Rosa' }, context));
    expect(await Promise.all(outcomes)).toEqual(['created', 'taken', 'created']);
    expect(log).toEqual([
      'INSERT 1,Rosa,,2,Rosa,,3,Rosa,',
      'DO ',
      'SELECT 1,2,3',
      'INSERT 1,Rosa,,3,Rosa,',
      'release',
    ]);
  });

  it('sends no more if all ids are stored already', async () => {
    const { pool, log } = answering(mysqlError({ errno: 1062, sqlState: '23000' }), inserted, [['0'], ['1']]);
    const { create } = mysqlStorage(pool);
    const outcomes = [1n, 2n].map((id) => create({ id, name: 'Rosa' }, context));
    expect(await Promise.all(outcomes)).toEqual(['taken', 'taken']);
    expect(log).toEqual(['INSERT 1,Rosa,,2,Rosa,', 'DO ', 'SELECT 1,2', 'release']);
  });

  it('does not return taken if it cannot see the row', async () => {
    const duplicate = mysqlError({ errno: 1062, sqlState: '23000' });
    const { pool } = answering(duplicate, inserted, []);
    await expect(mysqlStorage(pool).create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'RolledBack',
      cause: duplicate,
    });
  });

  it.each(['', '.', 'a.', 'a.b.c', 'a\0b', 7 as never])('throws at once for the table %j', (table) => {
    expect(() => mysqlStorage(answering().pool, { table })).toThrow(TypeError);
  });

  it('exports the schema of its table', () => {
    expect(schema).toMatch(/^CREATE TABLE IF NOT EXISTS `plants` \(id BIGINT PRIMARY KEY/);
  });
});
