// An app with the metrics of metrics.ts. `DATABASE_URL=postgres://… node --import tsx examples/around/metrics-app.ts`.
import express from 'express';
import pg from 'pg';
import { acceptTokens, createPlantStore, describeError } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { postgresStorage } from 'plant-store/postgres';
import { register } from 'prom-client';
import { measure, onBatch, watchPool, watchStorage, watchVerifier } from './metrics.js';

const { DATABASE_URL, MAX_QUEUED = '10000', TIMEOUT_MS = '10000' } = process.env;
const maxQueued = Number(MAX_QUEUED);
const timeoutMs = Number(TIMEOUT_MS);

// Both end before the storage's timeout: the database has then stored nothing, and the response says so.
const timeouts = { connectionTimeoutMillis: timeoutMs / 2, statement_timeout: timeoutMs / 2 };
const max = 10;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(describeError(error)));
const storage = postgresStorage(pool, { maxQueued, timeoutMs, onBatch });
watchStorage(storage, maxQueued, timeoutMs);
watchPool(pool, max);
await storage.check();
const handle = createPlantStore(storage, watchVerifier(acceptTokens('secret')));

const app = express();
app.use('/api', toExpress(measure(handle))); // POST /api/plants
app.get('/metrics', async (_request, response) => {
  response.type(register.contentType).send(await register.metrics());
});

export const server = app.listen(process.env.PORT ?? 3000);
server.on('listening', () => console.log(server.address()));
