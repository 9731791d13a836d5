// Knex on PostgreSQL: `DATABASE_URL=postgres://… node --import tsx examples/storages/knex.ts`.
import { createServer } from 'node:http';
import knex from 'knex';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { postgresStorage } from 'plant-store/postgres';

const database = knex({ client: 'pg', connection: process.env.DATABASE_URL as string });

// The bridge: Knex numbers each `?` by its place, and the statements use $1, $2, … in that order.
export const storage = postgresStorage({
  query: async (text, values = []) => database.raw(text.replace(/\$\d+/g, '?'), values),
});
await storage.createTable(); // or your migration

/** The app's own query. */
export async function find(id: bigint) {
  // The id is sent as text and read as text, because that is how pg reads an int8.
  const plant = await database('plants').where('id', String(id)).first('id', 'name', 'tag');
  return plant && { id: BigInt(plant.id), name: String(plant.name), tag: plant.tag ?? undefined };
}

export const server = createServer(toNode(createPlantStore(storage, acceptTokens('secret'))));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
