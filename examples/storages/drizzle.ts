// Drizzle on PostgreSQL: `DATABASE_URL=postgres://… node --import tsx examples/storages/drizzle.ts`.
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
import express from 'express';
import pg from 'pg';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { postgresStorage } from 'plant-store/postgres';

// With the mode 'number', Drizzle rounds ids beyond 2^53.
const plants = pgTable('plants', {
  id: bigint({ mode: 'bigint' }).primaryKey(),
  name: text().notNull(),
  tag: text(),
});

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(error.message));
const database = drizzle({ client: pool });

// The bridge: the pool that Drizzle uses.
export const storage = postgresStorage(database.$client);
await storage.createTable(); // or your migration

/** The app's own query, typed by Drizzle. */
export async function find(id: bigint) {
  const [plant] = await database.select().from(plants).where(eq(plants.id, id));
  return plant && { ...plant, tag: plant.tag ?? undefined };
}

const app = express();
app.use('/api', toExpress(createPlantStore(storage, acceptTokens('secret')))); // POST /api/plants
app.get('/api/plants/:id', async (request, response) => {
  const plant = await find(BigInt(request.params.id));
  if (plant) response.json({ ...plant, id: String(plant.id) });
  else response.sendStatus(404);
});

export const server = app.listen(process.env.PORT ?? 3000, (error) => {
  if (error) throw error;
  console.log(server.address());
});
