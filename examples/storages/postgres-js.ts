// postgres.js: `DATABASE_URL=postgres://… node --import tsx examples/storages/postgres-js.ts`.
import { createServer } from 'node:http';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { postgresStorage } from 'plant-store/postgres';
import postgres from 'postgres';

const sql = postgres(process.env.DATABASE_URL as string);

// The bridge.
export const storage = postgresStorage({
  query: async (text, values = []) => ({ rows: await sql.unsafe(text, values) }),
});
await storage.createTable(); // or your migration

/** The app's own query: postgres.js reads an int8 as text, which is exact. */
export async function find(id: bigint) {
  const [plant] = await sql`SELECT id, name, tag FROM plants WHERE id = ${String(id)}`;
  return plant && { id: BigInt(plant.id), name: String(plant.name), tag: plant.tag ?? undefined };
}

export const server = createServer(toNode(createPlantStore(storage, acceptTokens('secret'))));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
