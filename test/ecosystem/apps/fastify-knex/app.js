import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import jwt from '@fastify/jwt';
import fastify from 'fastify';
import knex from 'knex';
import { createPlantStore } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { postgresStorage } from 'plant-store/postgres';

/** Resolves with the app and its database, with the table migrated. */
export async function createApp() {
  const database = knex({ client: 'pg', connection: process.env.DATABASE_URL });
  await database.schema.dropTableIfExists('fastify_plants');
  await database.schema.createTable('fastify_plants', (table) => {
    table.bigInteger('id').primary();
    table.text('name').notNullable();
    table.text('tag');
    table.text('created_by').notNullable();
  });

  const app = fastify();
  app.addHook('onClose', () => database.destroy());
  app.register(helmet);
  app.register(cors);
  await app.register(jwt, { secret: process.env.SECRET });

  const storage = postgresStorage(
    { query: async (text, values = []) => database.raw(text.replace(/\$\d+/g, '?'), values) },
    { table: 'fastify_plants', columns: { created_by: ({ caller }) => caller.subject } },
  );
  await storage.check({ context: { caller: { subject: 'nobody' } } });
  const verifyToken = (token) => {
    try {
      return { subject: app.jwt.verify(token).sub };
    } catch {
      return null;
    }
  };
  app.register(toFastify(createPlantStore(storage, verifyToken)), { prefix: '/api' });

  const onRequest = (request) => request.jwtVerify();
  app.get('/api/plants', { onRequest }, (request) =>
    database('fastify_plants').where('created_by', request.user.sub).orderBy('id'),
  );
  const schema = {
    body: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } },
    response: {
      200: { type: 'object', properties: { echo: { type: 'object', additionalProperties: true } } },
    },
  };
  app.post('/api/echo', { schema }, async (request) => ({ echo: request.body }));
  return { app, database };
}
