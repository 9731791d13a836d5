// What the libraries of the page of recipes do for each connection, transaction, query or retry: each line of the page, as it stands
// there, stores a plant as the app's own INSERT does.
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { beforeAll, describe, expect, it } from 'vitest';
import { type MariaDb, oneMariaDb } from '../programs/cluster/galera.js';
import { clean } from '../programs/cluster/machine.js';
import { context } from '../storages/context.js';
import { faultyPostgres } from '../storages/fault-databases.js';
import { faultyMariaDb, mariaDbObstacle } from '../storages/fault-mariadb.js';
import { itSurvivesTheNetwork, loseResponse } from '../storages/faults.js';
import { ownServer } from '../storages/postgres-server.js';
import { Doorway } from '../support/doorway.js';
import type { Any } from '../support/installed.js';
import { describeUnless } from '../support/obstacle.js';
import { createRequest } from '../support/plants.js';
import { type Hooked, onlyPg, typeOrm } from './hooked-postgres.js';
import { cases as onMysql } from './hooks-mysql.js';
import { cases as onPostgres, tenants } from './hooks-postgres.js';
import { evaluate, type Library, pageRows } from './page-rows.js';
import { retrying, transactional } from './retries-postgres.js';

/** The tenant of a plant. */
const tenantOf = (id: number) => (id % 2 ? 'oak' : 'elm');

const table = (schema: string) => `CREATE TABLE ${schema}.plants (
  id bigint PRIMARY KEY, name text NOT NULL, tag text,
  by text DEFAULT current_user,
  org text DEFAULT current_setting('app.org', true),
  timeout text DEFAULT current_setting('statement_timeout'),
  statement text DEFAULT current_query())`;

const setUp = `CREATE SCHEMA garden; ${table('public')}; ${table('garden')};
  CREATE ROLE gardener; GRANT USAGE ON SCHEMA garden TO gardener;
  GRANT SELECT, INSERT ON public.plants, garden.plants TO gardener`;

const landedIn = (
  schema: string,
) => `SELECT id::int, '${schema}' AS place, by, coalesce(org, '') AS org, timeout,
  coalesce(substring(statement FROM '/\\*.*\\*/'), '') AS comment FROM ${schema}.plants`;

describe('PostgreSQL', () => {
  const own = ownServer();
  const lines = pageRows('Libraries on PostgreSQL');
  let doorway: Doorway;
  beforeAll(async () => {
    doorway = await Doorway.before({ path: own.server.socket });
    await own.pool.query(setUp);
    await own.pool.query('CREATE DATABASE replica');
    const replica = own.poolOf({ connectionString: own.server.url.replace('/postgres?', '/replica?') });
    await replica.query(table('public'));
    return () => doorway.close();
  });
  const addresses = () => {
    const { port } = doorway;
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    return { port, url, replica: url.replace(/postgres$/, 'replica') };
  };

  const storageOf = (library: string, { scope }: Library, options = {}) => {
    const make = (pool: never) => postgresStorage(pool, options);
    return evaluate(lines.get(library)!, { ...scope, postgresStorage: make }) as PlantStorage;
  };

  it.each(onPostgres)(
    '$library, $what: as an INSERT of the app',
    async ({ library, open, landed, options }) => {
      await own.pool.query('TRUNCATE public.plants, garden.plants');
      const hooked = await open(addresses());
      try {
        await createBeside(hooked, storageOf(library, hooked, options));
      } finally {
        await hooked.close();
      }
      const { rows } = await own.pool.query(
        `${landedIn('public')} UNION ALL ${landedIn('garden')} ORDER BY id`,
      );
      const usual = { place: 'public', by: 'postgres', org: '', timeout: '0', comment: '' };
      expect(rows).toEqual(ids.map((id) => ({ id, ...usual, ...landed(tenantOf(id)) })));
    },
  );

  it('pg, a wrapper that puts another comment before each query: as the page has it', async () => {
    await own.pool.query('TRUNCATE public.plants');
    const pool = own.poolOf();
    let count = 0;
    pool.on('connect', (client) => {
      const { query } = client as Any;
      Object.assign(client, {
        query: (text: string, ...rest: unknown[]) => query.call(client, `/*${count++}*/${text}`, ...rest),
      });
    });
    const storage = postgresStorage({ query: (text, values) => pool.query(text, values) });
    await createBeside(await onlyPg(pool), storage);
  });

  // Otherwise its ROLLBACK would remove a plant whose create has returned 200.
  it.each(Object.entries(transactional))('%s: not in a transaction of the app', async (library, open) => {
    await own.pool.query('TRUNCATE public.plants');
    const { rollBack, ...hooked } = await open(addresses());
    const storage = storageOf(library, hooked);
    try {
      await rollBack(async () => {
        await hooked.insert(1);
        expect(await storage.create({ id: 2n, name: 'Rosa' }, context)).toBe('created');
      });
    } finally {
      await hooked.close();
    }
    expect((await own.pool.query('SELECT id::int FROM plants')).rows).toEqual([{ id: 2 }]);
  });

  it('Sequelize, whose retries the line does not turn off: finds its own plant taken, which acceptReplays accepts', async () => {
    await own.pool.query('TRUNCATE public.plants');
    const { scope, close } = await retrying.Sequelize!(addresses());
    const { onAnswer } = doorway;
    const [before, after, ...others] = lines.get('Sequelize')!.split('retry: { max: 1 }, ');
    expect(others).toEqual([]);
    const storage = evaluate(`${before}${after}`, { ...scope, postgresStorage }) as PlantStorage;
    const isStored = async (id: number) =>
      (await own.pool.query('SELECT FROM public.plants WHERE id = $1', [id])).rows.length > 0;
    try {
      expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
      loseResponse(doorway, () => isStored(2));
      expect(await storage.create({ id: 2n, name: 'Rosa' }, context)).toBe('taken');
      doorway.onAnswer = onAnswer;
      const handle = createPlantStore(storage, acceptTokens('secret'), { acceptReplays: true });
      loseResponse(doorway, () => isStored(3));
      const { status } = await handle(createRequest('secret', '{"id":3,"name":"Rosa"}'));
      expect(status).toBe(200);
    } finally {
      doorway.onAnswer = onAnswer;
      await close();
    }
  });

  describe.each(Object.entries(retrying))('%s, which retries', (name, open) => {
    let library: Library;
    beforeAll(async () => {
      library = await open(addresses());
      return () => library.close();
    });
    const database = faultyPostgres(
      () => own.pool,
      () => doorway,
      (options) => storageOf(name.split(', ')[0]!, library, options),
    );
    itSurvivesTheNetwork(() => doorway, database.open);
  });
});

const onMariaDb = [
  'CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT, org TEXT, `by` TEXT)',
  "CREATE TRIGGER seen BEFORE INSERT ON plants FOR EACH ROW SET NEW.org = @org, NEW.`by` = SUBSTRING_INDEX(USER(), '@', 1)",
];

describeUnless(mariaDbObstacle, 'MariaDB', () => {
  const lines = pageRows('Libraries on MySQL and MariaDB');
  let server: MariaDb;
  let behind: Pool;
  const replica = () => server.url.replace(/\w+$/, 'replica');
  beforeAll(async () => {
    server = await oneMariaDb();
    behind = createPool(server.url);
    for (const sql of onMariaDb) await behind.query(sql);
    await behind.query('CREATE DATABASE replica');
    await behind.query("CREATE USER gardener@'%' IDENTIFIED BY 'plants'");
    await behind.query("GRANT ALL ON *.* TO gardener@'%'");
    return async () => {
      await behind.end();
      await clean([server.daemon], server.daemon.folder);
    };
  });

  it.each(onMysql)('$library, $what: as an INSERT of the app', async ({ library, open, landed }) => {
    await behind.query('TRUNCATE plants');
    const hooked = await open(server.url, replica());
    try {
      await createBeside(
        hooked,
        evaluate(lines.get(library)!, { ...hooked.scope, mysqlStorage }) as PlantStorage,
      );
    } finally {
      await hooked.close();
    }
    const select = "SELECT id, COALESCE(org, '') AS org, `by` FROM plants ORDER BY id";
    const [rows] = await behind.query<RowDataPacket[]>(select);
    expect(rows).toEqual(ids.map((id) => ({ id, org: '', by: 'plants', ...landed })));
  });

  describe('TypeORM with replication, and a restoreNodeTimeout', () => {
    let doorway: Doorway;
    let library: Library;
    beforeAll(async () => {
      doorway = await Doorway.before({ host: server.address, port: server.port });
      const url = server.url.replace(String(server.port), String(doorway.port));
      library = await typeOrm('mysql', {
        replication: { master: { url }, slaves: [{ url: replica() }], restoreNodeTimeout: 100 },
      });
      return () => library.close().finally(() => doorway.close());
    });
    const database = faultyMariaDb(
      () => behind,
      () => doorway,
      (options) => {
        const make = (pool: never) => mysqlStorage(pool, options);
        return evaluate(lines.get('TypeORM')!, { ...library.scope, mysqlStorage: make }) as PlantStorage;
      },
    );
    itSurvivesTheNetwork(() => doorway, database.open);
  });
});

/** Of the plants that `createBeside` creates. */
const ids = [1, 2, 3, 4, 5, 6, 101, 102, 103, 104, 105];

/** Creates plants before and after the app has used its connections: some libraries prepare one when they first use it. */
async function createBeside({ insert }: Hooked, storage: PlantStorage): Promise<void> {
  const create = (id: number) =>
    tenants.run(tenantOf(id), () => storage.create({ id: BigInt(id), name: 'Rosa' }, context));
  const own = (id: number) => tenants.run(tenantOf(id), async () => void (await insert(id)));
  expect(await create(1)).toBe('created');
  await Promise.all([101, 102, 103, 104].map(own));
  expect(await Promise.all([2, 3, 4].map(create))).toEqual(['created', 'created', 'created']);
  await own(105);
  expect(await Promise.all([1, 5, 103, 6].map(create))).toEqual(['taken', 'created', 'taken', 'created']);
}
