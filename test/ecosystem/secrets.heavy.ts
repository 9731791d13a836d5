// What the default log says of a verifier that cannot check a token, through each library that people keep sessions with: never
// the token, which most of them put into the message of their error.
import assert from 'node:assert';
import pg from 'pg';
import { createPlantStore, describeError } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { afterAll, expect, it } from 'vitest';
import { type Any, load } from '../support/installed.js';
import { createRequest } from '../support/plants.js';
import { prismaClient } from './prisma.js';

/** Nobody listens there. */
const nowhere = 'postgres://garden:p4ssw0rdKx@127.0.0.1:1/garden';
const pool = new pg.Pool({ connectionString: nowhere, max: 1 });
const ends: (() => unknown)[] = [() => pool.end()];
afterAll(async () => {
  for (const end of ends) await end();
});

const token = 'zq7Xm2LwT9vKp4Rb8Ny1cD5eF6gH3jK0';
const select = 'SELECT user_id FROM session WHERE token = ';

/** How a verifier looks for the session of a token, by library. */
const verifiers: Record<string, () => Promise<(token: string) => Promise<unknown>>> = {
  pg: async () => (token) => pool.query(`${select}$1`, [token]),
  'pg, with the token in the text': async () => (token) => pool.query(`${select}'${token}'`),
  async 'better-auth on Drizzle'() {
    const { betterAuth } = await load('better-auth');
    const { drizzleAdapter } = await load('better-auth/adapters/drizzle');
    const { bearer } = await load('better-auth/plugins');
    const { drizzle } = await load('drizzle-orm/node-postgres');
    const { pgTable, text, timestamp } = await load('drizzle-orm/pg-core');
    const session = pgTable('session', {
      id: text('id').primaryKey(),
      token: text('token'),
      userId: text('user_id'),
      expiresAt: timestamp('expires_at'),
      createdAt: timestamp('created_at'),
      updatedAt: timestamp('updated_at'),
      ipAddress: text('ip_address'),
      userAgent: text('user_agent'),
    });
    const user = pgTable('user', { id: text('id').primaryKey(), email: text('email') });
    const auth = betterAuth({
      baseURL: 'http://127.0.0.1:3000',
      secret: 'for-evaluation-only-for-evaluation-only',
      database: drizzleAdapter(drizzle({ client: pool }), { provider: 'pg', schema: { session, user } }),
      logger: { disabled: true },
      plugins: [bearer()],
    });
    return async (token) => {
      // As better-auth itself looks a session up.
      const context = await auth.$context;
      return context.internalAdapter.findSession(token);
    };
  },
  async Drizzle() {
    const { drizzle } = await load('drizzle-orm/node-postgres');
    const { sql } = await load('drizzle-orm');
    const db = drizzle({ client: pool });
    return (token) => db.execute(sql`SELECT user_id FROM session WHERE token = ${token}`);
  },
  async Knex() {
    const { default: knex } = await load('knex');
    const db = knex({ client: 'pg', connection: nowhere, acquireConnectionTimeout: 2_000 });
    ends.push(() => db.destroy());
    return async (token) => db('session').where({ token }).first();
  },
  async Kysely() {
    const { Kysely, PostgresDialect } = await load('kysely');
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
    return (token) => db.selectFrom('session').selectAll().where('token', '=', token).execute();
  },
  async Sequelize() {
    const { Sequelize } = (await load('sequelize')).default;
    const sequelize = new Sequelize(nowhere, { logging: false });
    ends.push(() => sequelize.close());
    return (token) => sequelize.query(`${select}:token`, { replacements: { token } });
  },
  async Prisma() {
    const { PrismaPg } = await load('@prisma/adapter-pg');
    const prisma = await prismaClient('postgresql', new PrismaPg({ connectionString: nowhere }));
    ends.push(() => prisma.$disconnect());
    return (token) => prisma.$queryRawUnsafe(`${select}'${token}'`);
  },
  async ioredis() {
    const { default: Redis } = await load('ioredis');
    const redis = new Redis({
      host: '127.0.0.1',
      port: 1,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    redis.on('error', () => {});
    ends.push(() => redis.disconnect());
    return (token) => redis.get(`session:${token}`);
  },
  async jsonwebtoken() {
    const { default: jwt } = await load('jsonwebtoken');
    return async (token) => jwt.verify(token, 'secret');
  },
  async jose() {
    const { jwtVerify } = await import('jose');
    return (token) => jwtVerify(token, new TextEncoder().encode('secret'));
  },
  'fetch, whose URL is none': async () => (token) => fetch(`//tokens.example/${token}`),
  'fetch, with the token in the URL': async () => (token) =>
    fetch(`http://127.0.0.1:1/introspect?token=${token}`),
  'JSON.parse of a token': async () => async (token) => JSON.parse(atob(token)),
  'an assertion': async () => async (token) => {
    assert.deepStrictEqual({ token }, { token: 'another' });
  },
};

it.each(Object.entries(verifiers))('%s: no part of the token is logged', async (_, open) => {
  const verify = await open();
  const verifyToken = (token: string): Promise<Any> => verify(token);
  const lines: string[] = [];
  const onError = (error: unknown) => void lines.push(describeError(error));
  const response = await createPlantStore(memoryStorage(), verifyToken, { onError })(createRequest(token));
  expect(response.error).toBe(50002);
  const [line = '', ...others] = lines;
  expect(others).toEqual([]);
  expect(line).not.toBe('');
  const parts = Array.from({ length: token.length - 3 }, (_, i) => token.slice(i, i + 4));
  expect(parts.filter((part) => line.includes(part))).toEqual([]);
  expect(line).not.toContain('p4ssw0rdKx');
});
