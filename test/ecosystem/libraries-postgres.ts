// How each library of the table *Databases* is opened on PostgreSQL: the variables that its line on the page uses.
import { once } from 'node:events';
import { connect } from 'node:net';
import pg from 'pg';
import postgres from 'postgres';
import { deferred } from '../support/deferred.js';
import { type Any, load } from '../support/installed.js';
import type { Library } from './page-rows.js';
import { prismaClient } from './prisma.js';
import { typeOrm } from './typeorm.js';

export interface Address {
  readonly port: number;
  readonly url: string;
}

/** A pool whose connections may break. */
function poolAt({ url }: Address): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 5_000 });
  pool.on('error', () => {});
  return pool;
}

const openKnex =
  (name: string) =>
  async ({ url }: Address): Promise<Library> => {
    const { default: knex } = await load(name);
    const db = knex({ client: 'pg', connection: url });
    return { scope: { db }, close: () => db.destroy() };
  };

const openSequelize =
  (name: string) =>
  async ({ url }: Address): Promise<Library> => {
    const { Sequelize } = (await load(name)).default;
    const sequelize = new Sequelize(url, { logging: false });
    return { scope: { sequelize }, close: () => sequelize.close() };
  };

const openTypeOrm =
  (name: string) =>
  ({ url }: Address): Promise<Library> =>
    typeOrm(name, { type: 'postgres', url });

/** By the first column of the table. After a comma, the same row with an option of the library, or with an old version. */
export const onPostgres: Readonly<Record<string, (address: Address) => Promise<Library>>> = {
  async pg(address) {
    const pool = poolAt(address);
    return { scope: { pool }, close: () => pool.end() };
  },
  async Drizzle(address) {
    const { drizzle } = await load('drizzle-orm/node-postgres');
    const pool = poolAt(address);
    return { scope: { db: drizzle({ client: pool }) }, close: () => pool.end() };
  },
  Knex: openKnex('knex'),
  'Knex, 0.21': openKnex('knex-oldest'),
  async Kysely(address) {
    const { CompiledQuery, Kysely, PostgresDialect } = await load('kysely');
    const pool = poolAt(address);
    // The listener that the row asks for.
    pool.on('connect', (client) => void client.on('error', () => {}));
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
    return { scope: { db, CompiledQuery }, close: () => db.destroy() };
  },
  async MikroORM({ url }) {
    const { MikroORM, EntitySchema } = await load('@mikro-orm/postgresql');
    const entity = new EntitySchema({
      name: 'Plant',
      tableName: 'plants',
      properties: { id: { type: 'bigint', primary: true } },
    });
    const orm = await MikroORM.init({ clientUrl: url, entities: [entity] });
    return { scope: { orm }, close: () => orm.close(true) };
  },
  'Neon, its serverless Pool': openNeon,
  async 'pg-promise'({ url }) {
    const { default: pgPromise } = await load('pg-promise');
    const db = pgPromise({ noWarnings: true })({ connectionString: url });
    db.$pool.on('error', () => {});
    return { scope: { db }, close: () => db.$pool.end() };
  },
  async 'postgres.js'({ url }) {
    const sql = postgres(url, { onnotice: () => {} });
    return { scope: { sql }, close: () => sql.end({ timeout: 1 }) };
  },
  async 'postgres.js, fetch_types: false'({ url }) {
    const sql = postgres(url, { onnotice: () => {}, fetch_types: false });
    return { scope: { sql }, close: () => sql.end({ timeout: 1 }) };
  },
  async 'postgres.js, 3.0'({ url }) {
    const { default: postgres } = await load('postgres-oldest');
    const sql = postgres(url, { onnotice: () => {} });
    return { scope: { sql }, close: () => sql.end({ timeout: 1 }) };
  },
  async Prisma({ url }) {
    const { PrismaPg } = await load('@prisma/adapter-pg');
    const prisma = await prismaClient('postgresql', new PrismaPg({ connectionString: url }));
    return { scope: { prisma }, close: () => prisma.$disconnect() };
  },
  Sequelize: openSequelize('sequelize'),
  'Sequelize, 5.1': openSequelize('sequelize-oldest'),
  async slonik({ url }) {
    const { createPool, sql } = await loadSlonik();
    const pool = await createPool(url, {});
    return { scope: { pool, sql }, close: () => pool.end() };
  },
  TypeORM: openTypeOrm('typeorm'),
  'TypeORM, 0.2': openTypeOrm('typeorm-oldest'),
};

/** With what slonik needs of Node 22. */
export function loadSlonik(): Promise<Any> {
  Object.assign(Promise, { withResolvers: deferred });
  return load('slonik');
}

/** Its Pool speaks through a WebSocket, which Neon's proxy passes on to PostgreSQL. */
export async function openNeon({ port, url }: Address): Promise<Library> {
  const { Pool, neonConfig } = await load('@neondatabase/serverless');
  const { WebSocket, WebSocketServer } = await load('ws');
  const proxy = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(proxy, 'listening');
  proxy.on('connection', (socket: Any) => {
    const server = connect(port, '127.0.0.1');
    socket.on('message', (bytes: Buffer) => server.write(bytes));
    socket.on('close', () => server.destroy());
    server.on('data', (bytes) => socket.send(bytes));
    server.on('close', () => socket.close());
    server.on('error', () => {});
  });
  Object.assign(neonConfig, {
    webSocketConstructor: WebSocket,
    wsProxy: () => `127.0.0.1:${proxy.address().port}`,
    useSecureWebSocket: false,
    pipelineConnect: false,
    pipelineTLS: false,
  });
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 5_000 });
  pool.on('error', () => {});
  const close = () => pool.end().finally(() => proxy.close());
  return { scope: { pool }, close };
}
