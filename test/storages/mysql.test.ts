import { createPool } from 'mysql2/promise';
import {
  type MysqlPool,
  type MysqlStatement,
  type MysqlStorage,
  mysqlStorage,
  schema,
} from 'plant-store/mysql';
import { describe, expect, it, vi } from 'vitest';
import { context } from './context.js';
import { answering, connectionOf, inserted } from './mysql-connection.js';

// What needs no server. test/programs/cluster runs the storage on real servers, alone and in a cluster.

interface Properties {
  readonly errno?: number;
  readonly sqlState?: string;
  readonly code?: string;
  readonly fatal?: boolean;
}

const mysqlError = (properties: Properties, message = 'from the driver') =>
  Object.assign(new Error(message), properties);
const duplicate = mysqlError({ errno: 1062, sqlState: '23000' });

/** Creates plants with these ids, in one batch. */
const createAll = ({ create }: Pick<MysqlStorage, 'create'>, ...ids: bigint[]) =>
  Promise.allSettled(ids.map((id) => create({ id, name: 'Rosa' }, context)));

describe('mysqlStorage', () => {
  const both = 'INSERT 1,2';
  /** What becomes of a batch of two plants whose INSERT fails, as does that of the first alone; `end` is the connection's. */
  const meanings = {
    'is retried, because it was definitely rolled back,': (_error: Error, end: string) => ({
      answers: 1,
      outcomes: [{ value: 'created' }, { value: 'created' }],
      log: [both, end, 'INSERT 1', 'release', 'INSERT 2', 'release'],
    }),
    'has an unknown outcome, and is not retried,': (error: Error, end: string) => ({
      answers: 1,
      outcomes: [{ reason: error }, { reason: error }],
      log: [both, end],
    }),
    'is sent plant by plant, because one may be the cause,': (cause: Error, end: string) => ({
      answers: 2,
      outcomes: [{ reason: { name: 'RolledBack', cause } }, { value: 'created' }],
      log: [both, end, 'INSERT 1', end, 'INSERT 2', 'release'],
    }),
  };
  const [retried, unknown, apart] = Object.keys(meanings) as (keyof typeof meanings)[];

  // What each code of the server means is in codes.test.ts.
  it.each<[keyof typeof meanings, string, Properties, end?: string]>([
    [retried!, 'a deadlock, or a conflict between Galera nodes', { errno: 1213, sqlState: '40001' }],
    [unknown!, 'the connection was lost', { code: 'PROTOCOL_CONNECTION_LOST', fatal: true }, 'destroy'],
    [unknown!, 'the connection was refused in mid-use', { code: 'ECONNREFUSED', fatal: true }, 'destroy'],
    [unknown!, 'the driver timed out', { code: 'PROTOCOL_SEQUENCE_TIMEOUT' }, 'destroy'],
    [apart!, 'a trigger with SIGNAL', { errno: 1644, sqlState: '45000' }],
    [apart!, 'a packet too large: the server hangs up', { errno: 1153, sqlState: '08S01' }, 'destroy'],
  ])('a batch %s after this: %s', async (meaning, _, properties, end = 'release') => {
    const error = mysqlError(properties);
    const { answers, outcomes, log: expected } = meanings[meaning](error, end);
    const { pool, log } = answering(...Array(answers).fill(error));
    expect(await createAll(mysqlStorage(pool), 1n, 2n)).toMatchObject(outcomes);
    expect(log).toEqual(expected);
  });

  it('sends a batch that has to wait for a lock apart, and a plant alone again', async () => {
    const locked = mysqlError({ errno: 1205, sqlState: 'HY000' });
    const { pool, log } = answering(locked, locked);
    const created = { value: 'created' };
    expect(await createAll(mysqlStorage(pool), 1n, 2n)).toMatchObject([created, created]);
    const inserts = log.filter((entry) => entry.startsWith('INSERT'));
    expect(inserts.sort()).toEqual(['INSERT 1', 'INSERT 1', both, 'INSERT 2']);
  });

  it('sends ids as text that is cast, because MySQL compares BIGINT with text as doubles', async () => {
    const { pool, statements } = answering(duplicate, inserted, [{ n: 1 }], inserted, [
      { name: 'Rosa', tag: null },
    ]);
    const storage = mysqlStorage(pool, { table: 'garden.a `table`' });
    await createAll(storage, 1n, 2n);
    await storage.find(1n, context);
    // For this statement alone, in MariaDB's words and in MySQL's.
    const modes = /SET STATEMENT (sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'), .* SET_VAR\(\1\)/;
    expect(statements[0]![0]).toMatch(modes);
    const reads = statements.filter(([sql]) => sql.startsWith('SELECT'));
    expect(reads.map(([, values]) => values)).toEqual([['1', '2'], ['1']]);
    for (const [sql] of reads) {
      expect(sql).toContain('FROM `garden`.`a ``table```');
      expect(sql.replaceAll('`id` = CAST(? AS DECIMAL(65))', '')).not.toContain('?');
    }
  });

  it('reads rows as it needs them, whatever the options of the pool for rows, tables and types', async () => {
    const { pool, statements } = answering([{ name: 'Rosa', tag: null }]);
    expect(await mysqlStorage(pool).find(1n, context)).toEqual({ id: 1n, name: 'Rosa', tag: undefined });
    const { rowsAsArray, nestTables, typeCast } = statements[0]![2] as MysqlStatement;
    expect([rowsAsArray, nestTables, typeCast({}, () => 'given')]).toEqual([false, false, 'given']);
  });

  it('finds each plant by its own id, although mysql2 before 3.6 keeps the first values in the object of a statement', async () => {
    const connection = connectionOf((sql, given, statement) => {
      if (/information_schema|^SHOW/.test(sql)) return [];
      const kept = statement as MysqlStatement & { values?: readonly unknown[] };
      kept.values ??= given;
      return [{ name: `Rosa ${kept.values}`, tag: null }];
    });
    const { find } = mysqlStorage({ getConnection: async () => connection });
    for (const id of [1n, 2n, 3n]) expect(await find(id, context)).toMatchObject({ name: `Rosa ${id}` });
  });

  it('fails if the connections do not autocommit, and destroys the connection', async () => {
    const { pool, log } = answering({ serverStatus: 1 });
    await expect(mysqlStorage(pool).create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow(
      'autocommit is off',
    );
    expect(log).toEqual(['INSERT 1', 'ROLLBACK ', 'destroy']);
  });

  it('connects again when a connection is refused, because nothing was sent', async () => {
    const { pool, log } = answering();
    const refused: Properties[] = [
      { code: 'ECONNREFUSED', fatal: true },
      { errno: 1040, sqlState: '08004' },
    ];
    const { create } = mysqlStorage({
      getConnection: () =>
        refused.length > 0 ? Promise.reject(mysqlError(refused.shift()!)) : pool.getConnection(),
    });
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(log).toEqual(['INSERT 1', 'release']);
  });

  it.each([
    [1045, '28000', "Access denied for user 'plants'"],
    [1049, '42000', "Unknown database 'garden'"],
  ])(
    'is busy at once, without a retry, if the server refuses the login with %i',
    async (errno, sqlState, message) => {
      const denied = mysqlError({ errno, sqlState }, message);
      const { create, find } = mysqlStorage({ getConnection: () => Promise.reject(denied) });
      const busy = {
        name: 'StorageBusy',
        message:
          'the server refuses the login. Check user, password or token, database and SSL in the settings of the pool or client',
        cause: denied,
      };
      await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject(busy);
      await expect(find(1n, context)).rejects.toMatchObject(busy);
    },
  );

  const missing = `it does not exist. If yours has another name, set the option table; else call storage.createTable(), or run: ${schema}`;
  const grant = 'its user may not SELECT, INSERT. It needs GRANT SELECT, INSERT ON `plants` TO ...';
  it.each([
    [1146, '42S02', missing],
    // A login without a grant may not even look.
    [1142, '42000', grant],
  ])(
    'rejects a batch at once if its table has a fault, and says what to do: %i',
    async (errno, sqlState, why) => {
      const error = mysqlError({ errno, sqlState });
      const failing = { getConnection: async () => connectionOf(() => Promise.reject(error)) };
      const storage = mysqlStorage(failing, { refuse: () => 'never asked' });
      const cause = { message: `plant-store cannot use the table \`plants\`: ${why}` };
      const rejected = { reason: { name: 'RolledBack', cause } };
      expect(await createAll(storage, 1n, 2n)).toMatchObject([rejected, rejected]);
    },
  );

  it('rejects a plant whose trigger lacks a grant on another table, and blames no grant on its own', async () => {
    const { pool } = answering(mysqlError({ errno: 1142, sqlState: '42000' }));
    expect(await createAll(mysqlStorage(pool), 1n)).toMatchObject([
      { reason: { name: 'RolledBack', cause: { errno: 1142 } } },
    ]);
  });

  it.each([
    new TypeError('getConnection is not a function'),
    new RangeError('Invalid array length'),
    new ReferenceError('pool is not defined'),
    new SyntaxError('Unexpected token'),
  ])('rejects each create at once after a fault of the program that gives connections: %s', async (fault) => {
    const { create } = mysqlStorage({ getConnection: () => Promise.reject(fault) });
    await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'RolledBack',
      cause: { name: 'SetupError', cause: fault },
    });
  });

  it('reads what an error wraps, although that is null in a library', async () => {
    const wrapping = Object.assign(new Error('failed'), {
      cause: null,
      original: mysqlError({ errno: 1213, sqlState: '40001' }),
    });
    const { pool } = answering(wrapping);
    expect(await mysqlStorage(pool).create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  });

  it('ends reading an error that makes another cause each time', async () => {
    class Endless extends Error {
      override get cause() {
        return new Endless();
      }
    }
    const { pool } = answering(new Endless());
    await expect(mysqlStorage(pool).create({ id: 1n, name: 'Rosa' }, context)).rejects.toBeInstanceOf(
      Endless,
    );
  });

  it.each([
    ['no network', 'no network'],
    [undefined, 'the driver failed without an error'],
  ])('tells what a pool throws that is no error: %s', async (thrown, why) => {
    const storage = mysqlStorage({ getConnection: () => Promise.reject(thrown) });
    const error = await storage.check().catch((error) => error);
    expect(error.message).toContain(`check() got no connection to the database: ${why}. Check the settings`);
  });

  it.each([
    [
      'check',
      'Check the settings of the pool, and whether the database runs. A build has none; in a Worker, call it in a handler',
    ],
    [
      'createTable',
      'If this is a build, run a migration before the deployment instead: npx plant-store schema prints the SQL',
    ],
  ] as const)('without a database, %s is unavailable, and says what to do', async (call, remedy) => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    const storage = mysqlStorage({ getConnection: () => Promise.reject(refused) });
    await expect(storage[call]()).rejects.toMatchObject({
      message: `${call}() got no connection to the database: ECONNREFUSED. ${remedy}`,
      name: 'StorageBusy',
      cause: refused,
    });
  });

  it('check is unavailable if its connection is lost', async () => {
    const lost = mysqlError({ code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
    const storage = mysqlStorage({ getConnection: async () => connectionOf(() => Promise.reject(lost)) });
    await expect(storage.check()).rejects.toMatchObject({ name: 'StorageBusy', cause: lost });
  });

  it.each([
    ['does not understand', { errno: 1064, sqlState: '42000' }],
    ['lacks', { errno: 1146, sqlState: '42S02' }],
    ['rejects', { errno: 1644, sqlState: '45000' }],
  ])('uses no table unseen if the server %s the questions about its key', async (_, properties) => {
    const columns = ['id', 'name', 'tag'].map((Field) => ({ Field, Type: 'varchar(99)', Collation: null }));
    const connection = connectionOf((sql) => {
      if (sql.startsWith('SHOW FULL COLUMNS')) return columns;
      return /SELECT @@|information_schema|^SHOW/.test(sql)
        ? Promise.reject(mysqlError(properties))
        : inserted;
    });
    const { create } = mysqlStorage({ getConnection: async () => connection });
    await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('the server does not show whether its ids are unique') },
    });
  });

  it('asks refuse of no plant whose statement took too long', async () => {
    const refuse = vi.fn(() => 'no');
    const expired = mysqlError({ errno: 3024, sqlState: 'HY000' });
    const { create } = mysqlStorage(answering(expired).pool, { refuse });
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(refuse).not.toHaveBeenCalled();
  });

  it('is unavailable after the app has ended its pool', async () => {
    const pool = createPool({});
    await pool.end();
    const { create } = mysqlStorage(pool, { timeoutMs: 100 });
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
    const created = { value: 'created' };
    expect(await createAll(mysqlStorage(pool), 1n, 2n)).toMatchObject([created, created]);
    expect(log).toContain(both);
  });

  it.each([
    ['sends the other plants again if one is', [{ n: 1 }], 'created taken created', ['INSERT 1,3']],
    ['sends no more if all are', [{ n: 0 }, { n: 1 }, { n: 2 }], 'taken taken taken', []],
  ])('asks which ids are stored, and %s', async (_, stored, outcomes, then) => {
    const { pool, log } = answering(duplicate, inserted, stored);
    const settled = await createAll(mysqlStorage(pool), 1n, 2n, 3n);
    expect(settled).toMatchObject(outcomes.split(' ').map((value) => ({ value })));
    expect(log).toEqual(['INSERT 1,2,3', 'DO ', 'SELECT 1,2,3', ...then, 'release']);
  });

  it('does not return created if the result of the INSERT is none of mysql2', async () => {
    const { pool } = answering([]);
    await expect(mysqlStorage(pool).create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow(
      'execute must return [header], got an array',
    );
  });

  it('does not return taken if it cannot see the row, and gives refuse the error of the driver', async () => {
    const { pool } = answering(duplicate, inserted, [], duplicate, inserted, []);
    const message = 'another unique key of the table `plants` has this value already';
    const rejected = { reason: { name: 'RolledBack', message, cause: duplicate } };
    expect(await createAll(mysqlStorage(pool), 1n)).toMatchObject([rejected]);
    const refuse = (error: unknown) => (error === duplicate ? 'a plant of this name exists' : undefined);
    const refused = { reason: { name: 'PlantRefused', message: 'a plant of this name exists' } };
    expect(await createAll(mysqlStorage(pool, { refuse }), 1n)).toMatchObject([refused]);
  });

  it.each([1243, 1615])(
    'prepares a statement again that the server has lost, as it says by %i',
    async (errno) => {
      const lost = mysqlError({ errno, sqlState: 'HY000' });
      const { pool, log, connection } = answering(inserted, lost, inserted, lost, lost, inserted);
      const unprepare = vi.spyOn(connection, 'unprepare');
      const { create } = mysqlStorage(pool);
      const creating = (id: bigint) => create({ id, name: 'Rosa' }, context);
      expect(await creating(1n)).toBe('created');
      expect(await creating(2n)).toBe('created');
      // Those of a look at the table are not kept.
      expect(unprepare.mock.calls.filter(([sql]) => String(sql).includes('INSERT'))).toHaveLength(1);
      // Another time it is lost again at once: on another connection.
      expect(await creating(3n)).toBe('created');
      const [second, third] = [Array(2).fill('INSERT 2'), Array(2).fill('INSERT 3')];
      expect(log).toEqual([
        'INSERT 1',
        'release',
        ...second,
        'release',
        ...third,
        'destroy',
        'INSERT 3',
        'release',
      ]);
    },
  );
});

describe('mysqlStorage, of the table that the server shows', () => {
  type Setting = 'engine' | 'transactions' | 'characters' | 'modes' | 'isolation';
  interface Shown extends Readonly<Partial<Record<Setting, string>>> {
    /** The bodies of the triggers before an INSERT. */
    readonly triggers?: readonly string[];
    readonly indexes?: readonly string[];
    readonly types?: { readonly [column: string]: string };
    readonly collations?: { readonly [column: string]: string };
  }

  /** A pool whose server shows the table so, and inserts what it is sent. */
  function showing({ engine = 'InnoDB', transactions = 'YES', indexes = ['PRIMARY'], ...more }: Shown) {
    const {
      characters = 'utf8mb4',
      modes = '',
      isolation = 'REPEATABLE-READ',
      types,
      triggers = [],
      collations = {},
    } = more;
    const all = { id: 'bigint', name: 'longtext', tag: 'longtext', ...types };
    const shows: readonly (readonly [RegExp, readonly object[]])[] = [
      [/information_schema\.TRIGGERS/, triggers.map((body) => ({ body }))],
      [/information_schema\.TABLES/, [{ kind: 'BASE TABLE', engine, transactions, options: '' }]],
      [/@@character_set_client/, [{ characters, modes, isolation }]],
      [/^SELECT 0 AS n/, []],
      [
        /^SHOW FULL COLUMNS/,
        Object.entries(all).map(([Field, Type]) => ({ Field, Type, Collation: collations[Field] ?? null })),
      ],
      [
        /^SHOW INDEX/,
        indexes.map((Key_name) => ({ Key_name, Column_name: 'id', Sub_part: null, Index_type: 'BTREE' })),
      ],
    ];
    const connection = connectionOf((sql) => shows.find(([pattern]) => pattern.test(sql))?.[1] ?? inserted);
    return { getConnection: async () => connection };
  }

  it.each<[string, Shown]>([
    [
      'its engine MyISAM has no transactions: a failed INSERT leaves rows behind. Run: ALTER TABLE `plants` ENGINE = InnoDB',
      { engine: 'MyISAM', transactions: 'NO' },
    ],
    ["the character set latin1, which changes texts. Set charset: 'utf8mb4'", { characters: 'latin1' }],
    ['EMPTY_STRING_IS_NULL, which loses empty texts', { modes: 'STRICT_ALL_TABLES,EMPTY_STRING_IS_NULL' }],
    ['READ UNCOMMITTED, which shows plants that may be rolled back', { isolation: 'READ-UNCOMMITTED' }],
    ['its column name is in cp932_japanese_ci', { collations: { name: 'cp932_japanese_ci' } }],
    ['it needs a unique index of exactly (`id`)', { indexes: [] }],
    ['double', { types: { id: 'double' } }],
  ])('says that %s', async (why, shown) => {
    const { create } = mysqlStorage(showing(shown));
    await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'RolledBack',
      cause: { message: expect.stringContaining(why) },
    });
  });

  it('sends a plant again whose connection was lost before its COMMIT, on a table with triggers', async () => {
    const pool = showing({ triggers: ["SET new.tag = 'red'"] });
    const connection = await pool.getConnection();
    const { execute, query } = connection;
    const lost = new Error('the connection was lost');
    let inserts = 0;
    connection.execute = async (statement, values) => {
      const sql = typeof statement === 'string' ? statement : statement.sql;
      if (sql.includes(' INTO `plants`') && ++inserts === 1) throw lost;
      return sql.startsWith('SELECT 0 AS n') ? [[{ n: 0 }], undefined] : execute(statement, values);
    };
    connection.query = async (sql) => (sql.startsWith('ROLLBACK') ? Promise.reject(lost) : query(sql));
    expect(await mysqlStorage(pool).create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(inserts).toBe(2);
  });

  it('sends a plant again, on another connection, whose transaction was lost with its prepared statements', async () => {
    const connection = await showing({ triggers: ['peer'] }).getConnection();
    const { execute } = connection;
    const ends: string[] = [];
    let inserts = 0;
    connection.release = () => ends.push('release');
    connection.destroy = () => ends.push('destroy');
    connection.execute = async (statement, values) => {
      const sql = typeof statement === 'string' ? statement : statement.sql;
      if (sql.includes(' INTO `plants`') && ++inserts === 1)
        throw mysqlError({ errno: 1243, sqlState: 'HY000' });
      return sql.startsWith('SELECT 0 AS n') ? [[{ n: 0 }], undefined] : execute(statement, values);
    };
    const { create } = mysqlStorage({ getConnection: async () => connection });
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(ends).toEqual(['destroy', 'release']);
  });

  it.each<[string, Pick<MysqlPool, 'getConnection'>, number]>([
    ['once', showing({}), 1],
    ['again, if there was none', answering().pool, 2],
  ])('looks at the table %s', async (_, pool, looks) => {
    // Each pool of this file has one connection.
    const connection = await pool.getConnection();
    const execute = vi.spyOn(connection, 'execute');
    const { create } = mysqlStorage(pool);
    for (const id of [1n, 2n]) expect(await create({ id, name: 'Rosa' }, context)).toBe('created');
    const asked = execute.mock.calls.filter(([sql]) => JSON.stringify(sql).includes('SHOW FULL COLUMNS'));
    expect(asked).toHaveLength(looks);
  });

  it('looks at the table again after it was missing: it may be another one', async () => {
    const dropped = connectionOf((sql) =>
      /information_schema|^SHOW/.test(sql)
        ? []
        : Promise.reject(mysqlError({ errno: 1146, sqlState: '42S02' }, 'no such table')),
    );
    const pools = [showing({}), { getConnection: async () => dropped }, showing({ types: { id: 'double' } })];
    const { create } = mysqlStorage({ getConnection: () => pools[0]!.getConnection() });
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    for (const why of ['it does not exist', 'double']) {
      pools.shift();
      await expect(create({ id: 2n, name: 'Rosa' }, context)).rejects.toMatchObject({
        cause: { message: expect.stringContaining(why) },
      });
    }
  });

  it.each<[string, boolean]>([
    ['with a trigger that runs before it', true],
    ['without one', false],
  ])('after an INSERT %s, asks whether the plant is stored: %s', async (_, isAsked) => {
    const triggers = isAsked ? ['peer'] : [];
    const creating = mysqlStorage(showing({ triggers })).create({ id: 1n, name: 'Rosa' }, context);
    if (isAsked) await expect(creating).rejects.toThrow('the plant was neither inserted nor found');
    else expect(await creating).toBe('created');
  });

  it.each<[string, string, string]>([
    ['tinytext', ' '.repeat(255), ' '.repeat(256)],
    ['tinytext', '\u00e9'.repeat(127), `${'\u00e9'.repeat(127)}  `],
    ['text', 'Rosa ', ' '.repeat(65_536)],
    ["enum('happy','sad')", 'sad', '2'],
    ["set('happy','sad')", 'sad,happy', '3'],
    ["enum('it''s','a\\\\b','1''')", "it's", '1'],
    ["enum('it''s','a\\\\b')", 'a\\b', '2'],
    ["set('','sad')", ',', '1'],
  ])('rejects a text that a column of type %s would change', async (type, exact, changed) => {
    const columns = { mood: (given: { caller: unknown }) => String(given.caller) };
    const { create } = mysqlStorage(showing({ types: { mood: type } }), { columns });
    const creating = (mood: string) => create({ id: 1n, name: 'Rosa' }, { ...context, caller: mood });
    expect(await creating(exact)).toBe('created');
    await expect(creating(changed)).rejects.toMatchObject({ name: 'RolledBack', reason: 'rejected' });
  });
});
