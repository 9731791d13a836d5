// A stop that loses nothing, with Express and a pool: `DATABASE_URL=postgres://… node --import tsx examples/around/shutdown-express.ts`.
import { setTimeout } from 'node:timers/promises';
import express from 'express';
import pg from 'pg';
import { acceptTokens, createPlantStore, describeError, StorageBusy } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { postgresStorage } from 'plant-store/postgres';

const { DATABASE_URL, DRAIN_MS = '5000', PORT = '3000' } = process.env;

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: DATABASE_URL, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(describeError(error)));
const storage = postgresStorage(pool);
// The startup probe, before it takes a request.
for (;;) {
  const error: unknown = await storage.check().catch((error) => error);
  if (!error) break;
  // What needs a change ends the process with the remedy: a missing table, index, column or grant.
  if (!(error instanceof StorageBusy)) throw error;
  // This passes by itself: the database starts, or a migration locks the table.
  console.error(describeError(error));
  await setTimeout(1_000);
}

let ready = true;
const app = express();
app.use((_request, response, next) => {
  // Otherwise a client that keeps its connection could send a request on it just as it is closed.
  if (!ready) response.set('connection', 'close');
  next();
});
app.get('/healthz', (_request, response) => void response.send('alive'));
// Not whether the database responds: in an outage every instance would be removed, and with them the 503 of plant-store,
// whose Retry-After clients can read.
app.get('/readyz', (_request, response) => void response.sendStatus(ready ? 200 : 503));
app.use('/api', toExpress(createPlantStore(storage, acceptTokens('secret')))); // POST /api/plants

const server = app.listen(Number(PORT), '0.0.0.0');
server.on('listening', () => console.log(server.address()));
// Longer than the load balancer keeps an idle connection (nginx: 60 s). Node's 5 s would close one just as a POST is sent on
// it, which the load balancer may not send again: the client would get a 502.
server.keepAliveTimeout = 65_000;

process.once('SIGTERM', async () => {
  ready = false;
  // The load balancer needs time to notice. Until then new requests come, and get their responses.
  await setTimeout(Number(DRAIN_MS));
  // The requests in flight come first: their creates still need the pool.
  server.close(() => void pool.end());
  // A busy connection becomes idle after its response, so check repeatedly.
  setInterval(() => server.closeIdleConnections(), 100).unref();
  // A connection that never sent a request keeps `close` waiting.
  await setTimeout(10_000, undefined, { ref: false });
  server.closeAllConnections();
});
