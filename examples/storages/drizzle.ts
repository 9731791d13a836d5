// Drizzle on PostgreSQL: `DATABASE_URL=postgres://… node --import tsx examples/storages/drizzle.ts`.
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
import express from 'express';
import pg from 'pg';
import { acceptTokens, createPlantStore, describeError, guard, json } from 'plant-store';
import { toExpress, toRoute } from 'plant-store/express';
import { postgresStorage } from 'plant-store/postgres';
import { idSchema } from 'plant-store/schema';

// With the mode 'number', Drizzle rounds ids beyond 2^53.
const plants = pgTable('plants', {
  id: bigint({ mode: 'bigint' }).primaryKey(),
  name: text().notNull(),
  tag: text(),
});

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(describeError(error)));
const database = drizzle({ client: pool });

// The bridge: the pool that Drizzle uses.
export const storage = postgresStorage(database.$client);
await storage.createTable(); // or your migration

/** The app's own query, typed by Drizzle. */
export async function find(id: bigint) {
  const [plant] = await database.select().from(plants).where(eq(plants.id, id));
  return plant && { ...plant, tag: plant.tag ?? undefined };
}

const verifyToken = acceptTokens('secret');

const getPlant = guard(verifyToken, async ({ params }) => {
  const id = await idSchema['~standard'].validate(params?.id);
  if (id.issues) return json(400, { error: 1400, message: id.issues[0]?.message });
  const plant = await find(id.value);
  if (!plant) return json(404, { error: 1404, message: 'No plant has this id.' });
  // As a string, because a number would be rounded by the client.
  return json(200, { ...plant, id: String(plant.id) });
});

const app = express();
app.use('/api', toExpress(createPlantStore(storage, verifyToken))); // POST /api/plants
app.get('/api/plants/:id', toRoute(getPlant));

export const server = app.listen(process.env.PORT ?? 3000);
server.on('listening', () => console.log(server.address()));
