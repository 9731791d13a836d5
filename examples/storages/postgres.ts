// PostgreSQL, through a pg Pool: `DATABASE_URL=postgres://… node --import tsx examples/storages/postgres.ts`.
import express from 'express';
import pg from 'pg';
import { acceptTokens, createPlantStore, describeError } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { postgresStorage } from 'plant-store/postgres';

// After these times the pool gives up a login that hangs, and the server ends a statement, such as one that waits for a lock.
const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(describeError(error)));

const storage = postgresStorage(pool, { table: 'public.plants' });
await storage.createTable();
// Creating an identical plant again returns 200, so that a client whose response was lost can retry.
const handle = createPlantStore(storage, acceptTokens('secret'), { acceptReplays: true });

const app = express();
app.use('/api', toExpress(handle)); // POST /api/plants

const server = app.listen(process.env.PORT ?? 3000);
server.on('listening', () => console.log(server.address()));
