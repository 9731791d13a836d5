// Whether MariaDB keeps an id unique is a fact of its catalogue: each kind of table is exact under a race, or refused.
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import { type MysqlOptions, type MysqlStorage, mysqlStorage, schemaOf } from 'plant-store/mysql';
import { beforeAll, expect, it } from 'vitest';
import { type MariaDb, oneMariaDb } from '../programs/cluster/galera.js';
import { clean } from '../programs/cluster/machine.js';
import { describeUnless } from '../support/obstacle.js';
import { unended, withColumns } from '../support/tables.js';
import { context } from './context.js';
import { mariaDbObstacle } from './fault-mariadb.js';

interface Kind {
  readonly statements: (table: string) => readonly string[];
  readonly namespace?: MysqlOptions['namespace'];
  /** What each session of the pool runs first. */
  readonly session?: string;
}

type StatementsOf = Kind['statements'];

const plain = (table: string) => unended(schemaOf({ table }));
const withId =
  (id: string, more = ''): StatementsOf =>
  (table) => [withColumns(plain(table), { id }).replace(/\)( +ENGINE)/, `${more})$1`)];
const noKey = withId('BIGINT NOT NULL');
const textId = withId('VARCHAR(20) NOT NULL');
const ending =
  (more: string): StatementsOf =>
  (table) => [`${plain(table)} ${more}`];
const and =
  (first: StatementsOf, ...more: string[]): StatementsOf =>
  (table) => [...first(table), ...more.map((statement) => statement.replaceAll('%', table))];
const alter = (...changes: string[]) => and(noKey, ...changes.map((change) => `ALTER TABLE % ${change}`));
/** A view of a table below. */
const view =
  (select: string, below: StatementsOf = (table) => [plain(table)], kind = ''): StatementsOf =>
  (table) => [
    ...below(`${table}_below`),
    `CREATE ${kind} VIEW ${table} AS ${select.replaceAll('%', `${table}_below`)}`,
  ];
const columns = 'SELECT id, name, tag FROM %';
const byTime = alter('ADD at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, ADD PRIMARY KEY (id, at)');
const tenants = { namespace: { tenant: () => 'garden' } };
const ofTenants =
  (key: string): StatementsOf =>
  (table) => [unended(schemaOf({ table, ...tenants })).replace(/PRIMARY KEY \([^)]*\)/, key)];

const exact: Record<string, Kind> = {
  'as schemaOf makes it': { statements: (table) => [plain(table)] },
  'a unique index beside a number of its own': {
    statements: alter('ADD no BIGINT AUTO_INCREMENT PRIMARY KEY, ADD UNIQUE (id)'),
  },
  'an id that counts by itself': { statements: withId('BIGINT AUTO_INCREMENT PRIMARY KEY') },
  'a smaller integer': { statements: withId('INT PRIMARY KEY') },
  'an unsigned integer': { statements: withId('BIGINT UNSIGNED PRIMARY KEY') },
  'a decimal': { statements: withId('DECIMAL(20,0) PRIMARY KEY') },
  'a text': { statements: withId('VARCHAR(20) PRIMARY KEY') },
  'a text whose letter case does not count': {
    statements: withId('VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY'),
  },
  'a text with a prefix of its own length': {
    statements: and(textId, 'CREATE UNIQUE INDEX k ON % (id(20))'),
  },
  'a descending key': { statements: alter('ADD PRIMARY KEY (id DESC)') },
  'a unique index that is ignored': {
    statements: and(withId('BIGINT', ', UNIQUE k (id)'), 'ALTER TABLE % ALTER INDEX k IGNORED'),
  },
  'a prefix and a whole index': {
    statements: and(textId, 'CREATE UNIQUE INDEX a ON % (id(9))', 'CREATE UNIQUE INDEX b ON % (id)'),
  },
  'another unique index with the name': {
    statements: and((table) => [plain(table)], 'CREATE UNIQUE INDEX a ON % (id, name(9))'),
  },
  'a unique hash of the name': {
    statements: and((table) => [plain(table)], 'ALTER TABLE % ADD UNIQUE (name)'),
  },
  'partitions by hash': { statements: ending('PARTITION BY HASH (id) PARTITIONS 3') },
  'partitions by key': { statements: ending('PARTITION BY KEY (id) PARTITIONS 3') },
  'partitions by range': {
    statements: ending(
      'PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (9), PARTITION b VALUES LESS THAN MAXVALUE)',
    ),
  },
  'versions of each row': { statements: ending('WITH SYSTEM VERSIONING') },
  'versions in partitions': {
    statements: ending(
      'WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME (PARTITION h HISTORY, PARTITION c CURRENT)',
    ),
  },
  'versions whose periods are declared': {
    statements: (table) => [
      `${withId('BIGINT PRIMARY KEY', ', b TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (b, e)')(table)} WITH SYSTEM VERSIONING`,
    ],
  },
  'a period of the app beside the key': {
    statements: withId(
      'BIGINT PRIMARY KEY',
      ", b DATE DEFAULT '2020-01-01', e DATE DEFAULT '2030-01-01', PERIOD FOR p (b, e)",
    ),
  },
  'a trigger': {
    statements: and(
      (table) => [plain(table)],
      'CREATE TABLE %_log (id BIGINT)',
      'CREATE TRIGGER %_t BEFORE INSERT ON % FOR EACH ROW INSERT INTO %_log VALUES (new.id)',
    ),
  },
  'compressed pages': { statements: ending('PAGE_COMPRESSED = 1') },
  'a generated column in a unique index': {
    statements: and((table) => [plain(table)], 'ALTER TABLE % ADD twice BIGINT AS (id * 2) STORED UNIQUE'),
  },
  'sessions that check no unique index': {
    statements: alter('ADD no BIGINT AUTO_INCREMENT PRIMARY KEY, ADD UNIQUE (id)'),
    session: 'SET unique_checks = 0',
  },
  'a view': { statements: view('SELECT * FROM %') },
  'a view of other names': {
    statements: view('SELECT `pl.``no` AS id, title AS name, kind AS tag FROM %', (table) => [
      `CREATE TABLE ${table} (\`pl.\`\`no\` BIGINT PRIMARY KEY, title TEXT NOT NULL, kind TEXT)`,
    ]),
  },
  'a view of a view, and another name for its table': {
    statements: (table) => [
      ...view('SELECT p.* FROM % p')(`${table}_middle`),
      `CREATE ALGORITHM = MERGE VIEW ${table} AS SELECT tag, name, id FROM ${table}_middle`,
    ],
  },
  'a key of a namespace': { statements: ofTenants('PRIMARY KEY (`tenant`, `id`)'), ...tenants },
  'a key of a namespace in the other order': { statements: ofTenants('UNIQUE (`id`, `tenant`)'), ...tenants },
};

const missing = 'it needs a unique index of exactly (`id`)';
const hidden = 'it is a view, and no unique index of exactly its ids is to be seen behind it';

const refused: Record<string, Kind & { readonly why: string }> = {
  'no key': { statements: noKey, why: missing },
  'an index that is not unique': { statements: alter('ADD INDEX (id)'), why: missing },
  'a key of the id and a time': { statements: byTime, why: missing },
  'a key of the id and a time, by which it is partitioned': {
    statements: and(
      byTime,
      'ALTER TABLE % PARTITION BY RANGE (UNIX_TIMESTAMP(at)) (PARTITION a VALUES LESS THAN MAXVALUE)',
    ),
    why: 'which its partitions may forbid',
  },
  'a key of the id and a period': {
    statements: withId(
      'BIGINT NOT NULL',
      ", b DATE DEFAULT '2020-01-01', e DATE DEFAULT '2030-01-01', PERIOD FOR p (b, e), PRIMARY KEY (id, p WITHOUT OVERLAPS)",
    ),
    why: missing,
  },
  'a key of the id and the name': { statements: alter('ADD UNIQUE (id, name(9))'), why: missing },
  'a key of a part of the id': {
    statements: and(textId, 'CREATE UNIQUE INDEX k ON % (id(9))'),
    why: missing,
  },
  'a key of the hash of a text': {
    statements: withId('TEXT NOT NULL', ', UNIQUE (id)'),
    why: 'its column id is text, in which no index keeps each id apart: use BIGINT',
  },
  'a key by a hash': { statements: alter('ADD UNIQUE (id) USING HASH'), why: missing },
  'a key of an expression': {
    statements: alter('ADD half BIGINT AS (id DIV 2) STORED UNIQUE'),
    why: missing,
  },
  'a namespace without a key': {
    statements: ofTenants('UNIQUE (`id`)'),
    ...tenants,
    why: '(`tenant`, `id`)',
  },
  'a key of a namespace and the name': {
    statements: ofTenants('UNIQUE (`tenant`, `id`, name(9))'),
    ...tenants,
    why: '(`tenant`, `id`)',
  },
  ...Object.fromEntries(
    ['MyISAM', 'Aria', 'MEMORY'].map((engine) => [
      engine,
      {
        statements: (table: string) => [
          `CREATE TABLE ${table} (id BIGINT PRIMARY KEY, name VARCHAR(99), tag VARCHAR(99)) ENGINE = ${engine}`,
        ],
        why: `its engine ${engine} has no transactions`,
      },
    ]),
  ),
  'a view of a table without a key': { statements: view(columns, noKey), why: hidden },
  'a view of a key of the id and a time': { statements: view(columns, byTime), why: hidden },
  'a view of MyISAM': {
    statements: view(columns, (table) => [plain(table).replace('InnoDB', 'MyISAM')]),
    why: 'its engine MyISAM has no transactions',
  },
  'a view of some rows': { statements: view(`${columns} WHERE id > 3`), why: hidden },
  'a view with another id than its key': {
    statements: view('SELECT no AS id, name, tag FROM %', (table) => [
      `CREATE TABLE ${table} (id BIGINT AUTO_INCREMENT PRIMARY KEY, no BIGINT, name TEXT, tag TEXT)`,
    ]),
    why: hidden,
  },
  'a view of an expression': { statements: view('SELECT id + 0 AS id, name, tag FROM %'), why: hidden },
  'a view of two tables': {
    statements: view('SELECT a.id, a.name, b.tag FROM % a JOIN % b ON a.id = b.id'),
    why: hidden,
  },
  'a view of a union': { statements: view(`${columns} UNION ALL ${columns}`), why: hidden },
};

describeUnless(mariaDbObstacle, 'the key of a table of MariaDB', () => {
  let server: MariaDb;
  let behind: Pool;
  let tables = 0;

  beforeAll(async () => {
    server = await oneMariaDb();
    behind = createPool(server.url);
    return async () => {
      await behind.end();
      await clean([server.daemon], server.daemon.folder);
    };
  });

  /** Storages as of several processes, each with a pool of its own. */
  async function open({ statements, namespace, session }: Kind, count: number) {
    const table = `keys_${tables++}`;
    for (const statement of statements(table)) await behind.query(statement);
    const pools = Array.from({ length: count }, () => createPool(server.url));
    if (session) for (const pool of pools) pool.on('connection', (connection) => connection.query(session));
    const storages = pools.map((pool) => mysqlStorage(pool, { table, ...(namespace && { namespace }) }));
    const close = () => Promise.all(pools.map((pool) => pool.end()));
    const countStored = async () =>
      (await behind.query<RowDataPacket[]>(`SELECT COUNT(*) AS n FROM ${table} WHERE id = 7`))[0][0]!.n;
    return { storages, close, countStored };
  }

  const create = ({ create }: MysqlStorage, name: string) =>
    create({ id: 7n, name }, context).catch((error) => error.cause?.message ?? String(error));

  /** Creates one id at least 64 times, for at least a second: a key of a time would let it in again. */
  async function race(storages: readonly MysqlStorage[]): Promise<Map<string, number>> {
    const told = new Map<string, number>();
    const until = performance.now() + 1_100;
    let left = 64;
    const client = async (storage: MysqlStorage, n: number) => {
      while (left-- > 0 || performance.now() < until) {
        const outcome = await create(storage, `Rosa ${n} ${left}`);
        told.set(outcome, (told.get(outcome) ?? 0) + 1);
      }
    };
    await Promise.all(storages.flatMap((storage, n) => [client(storage, n), client(storage, n + 8)]));
    return told;
  }

  it.each(Object.entries(exact))('%s: of all creates of one id, one is created', async (_, kind) => {
    const { storages, close, countStored } = await open(kind, 4);
    await storages[0]!.check();
    const told = await race(storages);
    expect([...told.keys()].sort()).toEqual(['created', 'taken']);
    expect(told.get('created')).toBe(1);
    expect(await countStored()).toBe(1);
    await close();
  });

  it.each(Object.entries(refused))(
    '%s: is refused by check and by each create, until its remedy was run',
    async (_, kind) => {
      const { storages, close, countStored } = await open(kind, 2);
      await expect(storages[0]!.check()).rejects.toThrow(kind.why);
      const told = [...(await race(storages)).keys()];
      expect(told).toEqual([expect.stringContaining(kind.why)]);
      expect(await countStored()).toBe(0);
      const [, remedy] = told[0]!.split('Run: ');
      if (remedy) await behind.query(remedy);
      expect(await create(storages[1]!, 'Rosa')).toEqual(remedy ? 'created' : told[0]);
      await close();
    },
  );

  it('a table of another server, whose keys are not its own, is refused', async () => {
    const table = `keys_${tables++}`;
    const connection = `${server.url}/${table}_below`;
    await behind.query("INSTALL SONAME 'ha_federatedx'");
    for (const statement of noKey(`${table}_below`)) await behind.query(statement);
    const [far] = withId('BIGINT NOT NULL', ', PRIMARY KEY (id)')(table);
    await behind.query(far!.replace('InnoDB', `FEDERATED CONNECTION = '${connection}'`));
    const pool = createPool(server.url);
    const { create, check } = mysqlStorage(pool, { table });
    const why = 'its engine FEDERATED may not keep ids unique';
    await expect(check()).rejects.toThrow(why);
    await expect(create({ id: 7n, name: 'Rosa' }, context)).rejects.toThrow(why);
    await pool.end();
  });

  it('a view whose definition a role may not see is refused, and told what to pass', async () => {
    const table = `keys_${tables++}`;
    for (const statement of view(columns)(table)) await behind.query(statement);
    await behind.query("CREATE USER guest@'127.0.0.1' IDENTIFIED BY 'guest'");
    await behind.query(`GRANT SELECT, INSERT ON ${table} TO guest@'127.0.0.1'`);
    const pool = createPool({ uri: server.url, user: 'guest', password: 'guest' });
    await expect(mysqlStorage(pool, { table }).check()).rejects.toThrow(
      `${hidden}. Pass the name of the table`,
    );
    await pool.end();
  });

  it('another unique key that has a value is told by its name, and the text of the server by none', async () => {
    const kind = { statements: and((table) => [plain(table)], 'CREATE UNIQUE INDEX names ON % (name(20))') };
    const { storages, close } = await open(kind, 1);
    const [{ create }] = storages as [MysqlStorage];
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    await expect(create({ id: 2n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'RolledBack',
      message: expect.stringMatching(
        /^another unique key of the table `keys_\d+` has this value already: names$/,
      ),
      cause: { errno: 1062 },
    });
    await close();
  });
});
