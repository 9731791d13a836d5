// A stop that loses nothing, with a pool: `DATABASE_URL=postgres://… node --import tsx examples/around/shutdown-fastify.ts`.
import { setTimeout } from 'node:timers/promises';
import Fastify from 'fastify';
import pg from 'pg';
import { acceptTokens, createPlantStore, describeError } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { postgresStorage } from 'plant-store/postgres';

const { DATABASE_URL, DRAIN_MS = '5000', PORT = '3000' } = process.env;

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: DATABASE_URL, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(describeError(error)));
const storage = postgresStorage(pool);
await storage.createTable(); // or your migration

let ready = true;

const app = Fastify();
app.addHook('onRequest', async (_request, reply) => {
  // Otherwise a client that keeps its connection could send a request on it just as it is closed.
  if (!ready) reply.header('connection', 'close');
});
app.register(toFastify(createPlantStore(storage, acceptTokens('secret'))), { prefix: '/api' });
// Fastify runs this after the requests in flight: their creates still need the pool.
app.addHook('onClose', () => pool.end());

app.get('/healthz', async () => 'alive');
// Not whether the database responds: in an outage every instance would be removed, and with them the 503 of plant-store,
// whose Retry-After clients can read.
app.get('/readyz', (_request, reply) => reply.code(ready ? 200 : 503).send());

process.once('SIGTERM', async () => {
  ready = false;
  // The load balancer needs time to notice. Until then new requests come, and get their responses.
  await setTimeout(Number(DRAIN_MS));
  // A busy connection becomes idle after its response, so check repeatedly.
  setInterval(() => app.server.closeIdleConnections(), 100).unref();
  await app.close();
});

await app.listen({ port: Number(PORT), host: '0.0.0.0' }); // from outside of the container, too
console.log(app.server.address());
