// What libraries do for each connection or query on PostgreSQL, as their documentation shows it.
import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import postgres from 'postgres';
import { type Any, load } from '../support/installed.js';
import {
  type Addresses,
  drizzle,
  type Hooked,
  knex,
  kysely,
  mikroOrm,
  onlyPg,
  pgPromise,
  poolOf,
  postgresJs,
  prisma,
  sequelize,
  slonik,
  typeOrm,
} from './hooked-postgres.js';
import { loadSlonik, openNeon } from './libraries-postgres.js';

interface Case {
  readonly library: string;
  readonly what: string;
  readonly open: (addresses: Addresses) => Promise<Hooked>;
  /** Where a plant of a tenant is stored, and what its defaults see. */
  readonly landed: (tenant: string) => Readonly<Record<string, string>>;
  /** Options of the storage, which the page names for this. */
  readonly options?: object;
}

/** The tenant of a request. */
export const tenants = new AsyncLocalStorage<string>();

const setTenant = "SELECT set_config('app.org', $1, false)";
const inGarden = () => ({ place: 'garden' });
const byGardener = () => ({ by: 'gardener' });
const ofTenant = (org: string) => ({ org });

const roleOf = (client: Any) => client.query('SET ROLE gardener');
const ofPool = { pool: { afterCreate: (client: Any, done: Any) => client.query('SET ROLE gardener', done) } };
const withTimeout = { statement_timeout: 4_321 };
const timedOut = () => ({ timeout: '4321ms' });
const commented = () => ({ comment: "/*app='garden'*/" });
const appended = (text: string) => `${text} /*app='garden'*/`;

export const cases: readonly Case[] = [
  {
    library: 'pg',
    what: 'onConnect',
    open: ({ url }) => onlyPg(poolOf(url, { onConnect: roleOf })),
    landed: byGardener,
  },
  {
    library: 'pg',
    what: 'the event connect',
    open: ({ url }) => onlyPg(poolOf(url).on('connect', (client) => void roleOf(client))),
    landed: byGardener,
  },
  {
    library: 'pg',
    what: 'options',
    open: ({ url }) => onlyPg(poolOf(url, { options: '-c search_path=garden', ...withTimeout })),
    landed: () => ({ ...inGarden(), ...timedOut() }),
  },
  {
    library: 'Drizzle',
    what: 'withReplicas',
    open: ({ url, replica }) => drizzle(url, replica, { onConnect: roleOf }),
    landed: byGardener,
  },
  {
    library: 'Knex',
    what: 'searchPath',
    open: ({ url }) => knex(url, { searchPath: ['garden'] }),
    landed: inGarden,
  },
  { library: 'Knex', what: 'pool.afterCreate', open: ({ url }) => knex(url, ofPool), landed: byGardener },
  {
    library: 'Knex',
    what: 'comments, as sqlcommenter adds them',
    async open({ url }) {
      const opened = await knex(url, {});
      const { client } = opened.scope.db as Any;
      const { query } = client;
      client.query = (connection: Any, { sql, ...rest }: Any) =>
        query.call(client, connection, { ...rest, sql: appended(sql) });
      return opened;
    },
    landed: commented,
  },
  {
    library: 'Knex',
    what: 'postProcessResponse',
    open: ({ url }) => knex(url, { postProcessResponse: (result: Any) => ({ ...result }) }),
    landed: () => ({}),
  },
  {
    library: 'Kysely',
    what: 'onCreateConnection',
    open: async (address) => {
      const { CompiledQuery } = await load('kysely');
      const set = CompiledQuery.raw('SET search_path TO garden');
      return kysely(address, { onCreateConnection: (connection: Any) => connection.executeQuery(set) });
    },
    landed: inGarden,
  },
  {
    library: 'Kysely',
    what: 'onReserveConnection, with the tenant of the request',
    open: async (address) => {
      const { CompiledQuery } = await load('kysely');
      return kysely(address, {
        onReserveConnection: (connection: Any) =>
          connection.executeQuery(CompiledQuery.raw(setTenant, [tenants.getStore()])),
      });
    },
    landed: ofTenant,
    options: { maxBatch: 1 },
  },
  {
    library: 'Kysely',
    what: 'CamelCasePlugin',
    open: async (address) => kysely(address, {}, { plugins: [new (await load('kysely')).CamelCasePlugin()] }),
    landed: () => ({}),
  },
  {
    library: 'MikroORM',
    what: 'pool.afterCreate',
    open: ({ url }) => mikroOrm(url, ofPool),
    landed: byGardener,
  },
  {
    library: 'MikroORM',
    what: 'replicas',
    open: ({ url, replica }) => mikroOrm(url, { replicas: [{ clientUrl: replica }] }),
    landed: () => ({}),
  },
  {
    library: 'MikroORM',
    what: 'schema',
    open: ({ url }) => mikroOrm(url, { schema: 'garden' }),
    landed: inGarden,
    options: { table: 'garden.plants' },
  },
  {
    library: 'Neon, its serverless Pool',
    what: 'the event connect',
    async open(addresses) {
      const { scope, close } = await openNeon(addresses);
      const pool = (scope.pool as pg.Pool).on('connect', (client) => void roleOf(client));
      return { ...(await onlyPg(pool)), close };
    },
    landed: byGardener,
  },
  {
    library: 'pg-promise',
    what: 'schema',
    open: (address) => pgPromise(address, { schema: 'garden' }),
    landed: inGarden,
  },
  {
    library: 'pg-promise',
    what: 'the event connect',
    open: (address) => pgPromise(address, { connect: ({ client }: Any) => void roleOf(client) }),
    landed: byGardener,
  },
  {
    library: 'postgres.js',
    what: 'connection',
    open: (address) => postgresJs(address, { connection: { search_path: 'garden', ...withTimeout } }),
    landed: () => ({ ...inGarden(), ...timedOut() }),
  },
  ...['camel', 'kebab'].map((style) => ({
    library: 'postgres.js',
    what: `transform: postgres.${style}`,
    open: (address: Addresses) => postgresJs(address, { transform: (postgres as Any)[style] }),
    landed: () => ({}),
  })),
  {
    library: 'Prisma',
    what: "the adapter's schema",
    open: ({ url }) => prisma(url, { adapter: { schema: 'garden' } }),
    landed: inGarden,
    options: { table: 'garden.plants' },
  },
  {
    library: 'Prisma',
    what: 'an extension of $allOperations, with the tenant of the request',
    open: ({ url }) =>
      prisma(url, {}, (client) =>
        client.$extends({
          query: {
            async $allOperations({ args, query }: Any) {
              const set = client.$queryRawUnsafe(setTenant, tenants.getStore());
              return (await client.$transaction([set, query(args)]))[1];
            },
          },
        }),
      ),
    landed: ofTenant,
    options: { maxBatch: 1 },
  },
  {
    library: 'Prisma',
    what: 'comments',
    open: ({ url }) => prisma(url, { comments: [() => ({ app: 'garden' })] }),
    landed: commented,
  },
  {
    library: 'Sequelize',
    what: 'the hook afterConnect',
    open: ({ url }) => sequelize(url, {}, (db) => db.addHook('afterConnect', roleOf)),
    landed: byGardener,
  },
  {
    library: 'Sequelize',
    what: 'the hook afterPoolAcquire, with the tenant of the request',
    open: ({ url }) =>
      sequelize(url, {}, (db) =>
        db.addHook('afterPoolAcquire', (client: Any) => client.query(setTenant, [tenants.getStore()])),
      ),
    landed: ofTenant,
    options: { maxBatch: 1 },
  },
  {
    library: 'Sequelize',
    what: 'replication',
    open: ({ url, replica }) => sequelize(url, { replication: { write: url, read: [replica] } }),
    landed: () => ({}),
  },
  {
    library: 'Sequelize',
    what: 'comments, as sqlcommenter adds them',
    open: ({ url }) =>
      sequelize(url, {}, ({ dialect }) => {
        dialect.Query = class extends dialect.Query {
          run(sql: string, values: Any) {
            return super.run(appended(sql), values);
          }
        };
      }),
    landed: commented,
  },
  {
    library: 'Sequelize',
    what: 'dialectOptions',
    open: ({ url }) => sequelize(url, { dialectOptions: withTimeout }),
    landed: timedOut,
  },
  {
    library: 'slonik',
    what: 'afterPoolConnection, with the tenant of the request',
    open: async ({ url }) => {
      const { sql } = await loadSlonik();
      return slonik(url, {
        afterPoolConnection: (_: Any, connection: Any) =>
          connection.query(sql.unsafe`SELECT set_config('app.org', ${tenants.getStore()}, false)`),
      });
    },
    landed: (org) => ({ org, timeout: '1min' }),
    options: { maxBatch: 1 },
  },
  {
    library: 'slonik',
    what: 'transformQuery',
    open: ({ url }) =>
      slonik(url, { transformQuery: (_: Any, query: Any) => ({ ...query, sql: appended(query.sql) }) }),
    landed: () => ({ ...commented(), timeout: '1min' }),
  },
  {
    library: 'TypeORM',
    what: 'replication',
    open: ({ url, replica }) =>
      typeOrm('postgres', { replication: { master: { url }, slaves: [{ url: replica }] } }),
    landed: () => ({}),
  },
  {
    library: 'TypeORM',
    what: 'extra',
    open: ({ url }) =>
      typeOrm('postgres', { url, extra: { options: '-c search_path=garden', ...withTimeout } }),
    landed: () => ({ ...inGarden(), ...timedOut() }),
  },
  {
    library: 'TypeORM',
    what: 'schema',
    open: ({ url }) => typeOrm('postgres', { url, schema: 'garden' }),
    landed: inGarden,
    options: { table: 'garden.plants' },
  },
];
