// Kysely on PostgreSQL: `DATABASE_URL=postgres://… node --import tsx examples/storages/kysely.ts`.
import { createServer } from 'node:http';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { acceptTokens, createPlantStore, describeError } from 'plant-store';
import { toNode } from 'plant-store/node';
import { postgresStorage } from 'plant-store/postgres';

interface Database {
  // pg reads an int8 as text, because a number rounds ids beyond 2^53.
  plants: { id: string; name: string; tag: string | null };
}

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...timeouts });
// Without listeners, a dropped connection crashes the process: an idle one, and one that Kysely uses.
pool.on('error', (error) => console.error(describeError(error)));
pool.on('connect', (client) => client.on('error', (error) => console.error(describeError(error))));
const database = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });

// The bridge: Kysely's own connections, on which it runs `onCreateConnection` and `onReserveConnection`.
export const storage = postgresStorage({
  query: async (text, values = []) => database.executeQuery(CompiledQuery.raw(text, values)),
});
await storage.createTable(); // or your migration

/** The app's own query, typed by Kysely. */
export async function find(id: bigint) {
  const query = database.selectFrom('plants').selectAll().where('id', '=', String(id));
  const plant = await query.executeTakeFirst();
  return plant && { id: BigInt(plant.id), name: plant.name, tag: plant.tag ?? undefined };
}

export const server = createServer(toNode(createPlantStore(storage, acceptTokens('secret'))));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
