// On a pg Pool of your own: `DATABASE_URL=postgres://… node --import tsx examples/postgres.ts`.
import express from 'express';
import pg from 'pg';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { postgresStorage } from 'plant-store/postgres';

// A connection that hangs is given up after query_timeout, so that the pool can make another.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, query_timeout: 10_000 });
// An idle connection that is lost would end the process else.
pool.on('error', (error) => console.error(error.message));

const storage = postgresStorage(pool, { table: 'public.plants' });
await storage.createTable();
// Equal creates answer 200 again: a client that lost an answer can send its create once more.
const handle = createPlantStore(storage, acceptTokens('secret'), { acceptReplays: true });

const app = express();
app.use('/api', toExpress(handle)); // POST /api/plants

const server = app.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
