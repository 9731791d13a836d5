// The objects of libraries that people pass by mistake, made by the libraries themselves. test/storages/wrong-handles.test.ts has
// objects with their methods.
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { expect, it } from 'vitest';
import { load } from '../support/installed.js';

const url = 'postgres://127.0.0.1:1/garden';
const storages = { postgresStorage, mysqlStorage, sqliteStorage };

/** What each storage calls it, and how it is made; nothing connects. */
const handles: [came: string, make: () => unknown, instead?: string][] = [
  [
    'a Sequelize',
    async () => {
      const { Sequelize } = await load('sequelize');
      return new Sequelize(url, { dialect: 'postgres', logging: false, dialectModule: pg });
    },
  ],
  [
    "TypeORM's DataSource",
    async () => new (await load('typeorm')).DataSource({ type: 'postgres', url }),
    'dataSource.driver.master',
  ],
  [
    "TypeORM's EntityManager",
    async () => new (await load('typeorm')).DataSource({ type: 'postgres', url }).manager,
    'manager.connection.driver.master',
  ],
  [
    "pg-promise's db",
    async () => (await load('pg-promise')).default({ noWarnings: true })(url),
    'pass db.$pool',
  ],
  [
    'a Kysely',
    async () => {
      const { Kysely, PostgresDialect } = await load('kysely');
      return new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });
    },
  ],
  [
    "Drizzle's db",
    async () => (await load('drizzle-orm/node-postgres')).drizzle(new pg.Pool()),
    'db.$client',
  ],
  ["Drizzle's db", async () => (await load('drizzle-orm/mysql2')).drizzle(createPool({}))],
  ['a Knex', async () => (await load('knex')).default({ client: 'pg', connection: {} })],
  [
    'a MikroORM',
    async () => {
      const { MikroORM } = await load('@mikro-orm/core');
      return Object.create(MikroORM.prototype);
    },
  ],
  ['a mongoose connection', async () => (await load('mongoose')).default.createConnection()],
  [
    "the mariadb connector's pool",
    async () => (await load('mariadb')).createPool({ host: '127.0.0.1', port: 1 }),
  ],
  ['@libsql/client', async () => (await load('@libsql/client')).createClient({ url: ':memory:' })],
];

it.each(handles)('each storage names %s, and what to pass instead', async (came, make, instead) => {
  // In a list, because some of them have a `then`.
  const [handle] = [await make()];
  for (const storageOf of Object.values(storages)) {
    const open = () => storageOf(handle as never);
    expect(open).toThrow(TypeError);
    expect(open).toThrow(`, got ${came}: `);
  }
  if (instead) expect(() => postgresStorage(handle as never)).toThrow(instead);
});
