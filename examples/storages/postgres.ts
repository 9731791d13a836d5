// PostgreSQL, through a pg Pool: `DATABASE_URL=postgres://… node --import tsx examples/storages/postgres.ts`.
import express from 'express';
import pg from 'pg';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { postgresStorage } from 'plant-store/postgres';

// The pool gives up a connection that hangs after query_timeout, and can then make another.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, query_timeout: 10_000 });
// Without a listener, an idle connection that is lost ends the process.
pool.on('error', (error) => console.error(error.message));

const storage = postgresStorage(pool, { table: 'public.plants' });
await storage.createTable();
// A create that equals the stored plant is answered 200 again: a client that lost the answer can repeat it.
const handle = createPlantStore(storage, acceptTokens('secret'), { acceptReplays: true });

const app = express();
app.use('/api', toExpress(handle)); // POST /api/plants

const server = app.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
