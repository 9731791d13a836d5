// What libraries do for each connection or query on MySQL and MariaDB, as their documentation shows it, beside an INSERT of the app's own.
import { createPool, type Pool } from 'mysql2/promise';
import { insertStorage } from '../../examples/storages/one-insert-mysql.js';
import { type Any, load } from '../support/installed.js';
import { type Hooked, name, typeOrm } from './hooked-postgres.js';
import { prismaClient } from './prisma.js';

interface Case {
  readonly library: string;
  readonly what: string;
  /** @param replica of another database, for what must not be read or written there */
  readonly open: (url: string, replica: string) => Promise<Hooked>;
  /** What the table's trigger sees. */
  readonly landed: Readonly<Record<string, string>>;
}

const intoPlants = "INSERT INTO plants (id, name) VALUES (?, 'Rosa')";
const setOrg = "SET @org = 'oak'";

/** A pool that prepares each of its connections. */
function poolOf(url: string): Pool {
  const pool = createPool(url);
  // The event has a connection without promises.
  pool.on('connection', (connection: Any) => connection.query(setOrg));
  return pool;
}

async function onlyMysql2(url: string): Promise<Hooked> {
  const pool = poolOf(url);
  return { scope: { pool }, insert: (id) => pool.query(intoPlants, [id]), close: () => pool.end() };
}

async function drizzle(url: string, replica: string): Promise<Hooked> {
  const { drizzle } = await load('drizzle-orm/mysql2');
  const { bigint, mysqlTable, text, withReplicas } = await load('drizzle-orm/mysql-core');
  const plants = mysqlTable('plants', { id: bigint({ mode: 'number' }).primaryKey(), name: text() });
  const [primary, other] = [drizzle(url), drizzle(replica)];
  primary.$client.on('connection', (connection: Any) => connection.query(setOrg));
  return {
    scope: { db: withReplicas(primary, [other]) },
    insert: (id) => primary.insert(plants).values({ id, name }),
    close: () => Promise.all([primary, other].map((db) => db.$client.promise().end())),
  };
}

async function connector(url: string): Promise<Hooked> {
  const { createPool } = await load('mariadb');
  const pool = createPool(`${url.replace(/^mysql/, 'mariadb')}?initSql=${encodeURIComponent(setOrg)}`);
  const insert = (id: number) => pool.execute(intoPlants, [id]);
  return { scope: { pool, insertStorage }, insert, close: () => pool.end() };
}

async function prisma(url: string): Promise<Hooked> {
  const { PrismaMariaDb } = await load('@prisma/adapter-mariadb');
  const client = await prismaClient('mysql', new PrismaMariaDb(url.replace(/^mysql/, 'mariadb')));
  const query = {
    async $allOperations({ args, query }: Any) {
      return (await client.$transaction([client.$executeRawUnsafe(setOrg), query(args)]))[1];
    },
  };
  const prisma = client.$extends({ query });
  const insert = (id: number) => prisma.plant.create({ data: { id, name } });
  return { scope: { prisma, insertStorage }, insert, close: () => client.$disconnect() };
}

const oak = { org: 'oak' };

export const cases: readonly Case[] = [
  { library: 'mysql2', what: 'the event connection', open: onlyMysql2, landed: oak },
  { library: 'Drizzle', what: 'the event connection and withReplicas', open: drizzle, landed: oak },
  { library: 'mariadb, its connector', what: 'initSql', open: connector, landed: oak },
  { library: 'Prisma', what: 'an extension of $allOperations', open: prisma, landed: oak },
  {
    library: 'TypeORM',
    what: 'extra',
    open: (url) => typeOrm('mysql', { url, extra: { user: 'gardener' } }),
    landed: { by: 'gardener' },
  },
  {
    library: 'TypeORM',
    what: 'replication',
    open: (url, replica) =>
      typeOrm('mysql', { replication: { master: { url }, slaves: [{ url: replica }] } }),
    landed: {},
  },
];
