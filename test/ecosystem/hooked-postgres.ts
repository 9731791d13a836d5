// The libraries of the table *Libraries on PostgreSQL*, with options of an app and an INSERT of its own.
import pg from 'pg';
import postgres from 'postgres';
import { type Any, load } from '../support/installed.js';
import { type Address, loadSlonik } from './libraries-postgres.js';
import type { Library } from './page-rows.js';
import { prismaClient } from './prisma.js';

export interface Hooked extends Library {
  /** The app's own INSERT, as it writes it with this library. */
  readonly insert: (id: number) => PromiseLike<unknown>;
}

export interface Addresses extends Address {
  /** Of another database, for what must not be read or written there. */
  readonly replica: string;
}

export const name = 'Rosa';
const intoPlants = "INSERT INTO plants (id, name) VALUES ($1, 'Rosa')";

/** A pool, whose clients have a listener also while Kysely has them. */
export function poolOf(connectionString: string, options: object = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString, ...options });
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  return pool;
}

export async function kysely({ url }: Addresses, options: object, more: object = {}): Promise<Hooked> {
  const { CompiledQuery, Kysely, PostgresDialect } = await load('kysely');
  const db = new Kysely({ dialect: new PostgresDialect({ pool: poolOf(url), ...options }), ...more });
  return {
    scope: { db, CompiledQuery },
    insert: (id) => db.insertInto('plants').values({ id, name }).execute(),
    close: () => db.destroy(),
  };
}

export async function knex(connection: string, options: object): Promise<Hooked> {
  const { default: knex } = await load('knex');
  const db = knex({ client: 'pg', connection, ...options });
  return { scope: { db }, insert: (id) => db('plants').insert({ id, name }), close: () => db.destroy() };
}

export async function mikroOrm(clientUrl: string, options: object): Promise<Hooked> {
  const { MikroORM, EntitySchema } = await load('@mikro-orm/postgresql');
  const properties = { id: { type: 'bigint', primary: true }, name: { type: 'text' } };
  const entity = new EntitySchema({ name: 'Plant', tableName: 'plants', properties });
  const orm = await MikroORM.init({ clientUrl, entities: [entity], ...options });
  const insert = (id: number) => orm.em.fork().insert('Plant', { id: String(id), name });
  return { scope: { orm }, insert, close: () => orm.close(true) };
}

export async function pgPromise({ url }: Addresses, options: object): Promise<Hooked> {
  const { default: pgPromise } = await load('pg-promise');
  const db = pgPromise({ noWarnings: true, ...options })(url);
  return { scope: { db }, insert: (id) => db.none(intoPlants, [id]), close: () => db.$pool.end() };
}

export async function postgresJs({ url }: Addresses, options: object): Promise<Hooked> {
  const sql: Any = postgres(url, { onnotice: () => {}, ...options });
  const insert = (id: number) => sql`INSERT INTO plants ${sql({ id, name })}`;
  return { scope: { sql }, insert, close: () => sql.end({ timeout: 1 }) };
}

export async function prisma(
  url: string,
  options: object,
  extend = (client: Any) => client,
): Promise<Hooked> {
  const { PrismaPg } = await load('@prisma/adapter-pg');
  const { adapter, ...others } = { adapter: undefined, ...options };
  const client = await prismaClient('postgresql', new PrismaPg({ connectionString: url }, adapter), others);
  const prisma = extend(client);
  const insert = (id: number) => prisma.plant.create({ data: { id, name } });
  return { scope: { prisma }, insert, close: () => client.$disconnect() };
}

export async function sequelize(
  url: string,
  options: object,
  hook = (_: Any) => {},
  version = 'sequelize',
): Promise<Hooked> {
  const { Sequelize, DataTypes } = (await load(version)).default;
  const sequelize = new Sequelize(url, { logging: false, ...options });
  hook(sequelize);
  const columns = { id: { type: DataTypes.BIGINT, primaryKey: true }, name: DataTypes.TEXT };
  const Plant = sequelize.define('plant', columns, { tableName: 'plants', timestamps: false });
  return { scope: { sequelize }, insert: (id) => Plant.create({ id, name }), close: () => sequelize.close() };
}

export async function slonik(url: string, interceptor: object): Promise<Hooked> {
  const { createPool, sql } = await loadSlonik();
  const pool = await createPool(url, { interceptors: [{ name: 'hook', ...interceptor }] });
  const insert = (id: number) =>
    pool.query(sql.unsafe`INSERT INTO plants (id, name) VALUES (${id}, ${name})`);
  return { scope: { pool, sql }, insert, close: () => pool.end() };
}

/** On MySQL, too. */
export async function typeOrm(type: 'postgres' | 'mysql', options: object): Promise<Hooked> {
  const { DataSource, EntitySchema } = await load('typeorm').then((module) => module.default ?? module);
  const columns = { id: { type: 'bigint', primary: true }, name: { type: 'text' } };
  const Plant = new EntitySchema({ name: 'Plant', tableName: 'plants', columns });
  const dataSource = new DataSource({ type, entities: [Plant], ...options });
  await dataSource.initialize();
  const insert = (id: number) => dataSource.getRepository('Plant').insert({ id, name });
  return { scope: { dataSource }, insert, close: () => dataSource.destroy() };
}

export async function drizzle(url: string, replica: string, options: object = {}): Promise<Hooked> {
  const { drizzle } = await load('drizzle-orm/node-postgres');
  const { bigint, pgTable, text, withReplicas } = await load('drizzle-orm/pg-core');
  const plants = pgTable('plants', { id: bigint({ mode: 'number' }).primaryKey(), name: text() });
  const [pool, other] = [poolOf(url, options), poolOf(replica)];
  const db = withReplicas(drizzle({ client: pool }), [drizzle({ client: other })]);
  const insert = (id: number) => db.insert(plants).values({ id, name });
  return { scope: { db }, insert, close: () => Promise.all([pool.end(), other.end()]) };
}

export async function onlyPg(pool: pg.Pool): Promise<Hooked> {
  return { scope: { pool }, insert: (id) => pool.query(intoPlants, [id]), close: () => pool.end() };
}
