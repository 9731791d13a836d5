// Health checks, and a stop that loses nothing: `DATABASE=/var/lib/plants/plants.db node --import tsx examples/around/shutdown.ts`.
import { createServer } from 'node:http';
import { isAbsolute } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'libsql';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { sqliteStorage } from 'plant-store/sqlite';

const { DATABASE = '', DRAIN_MS = '5000', PORT = '3000' } = process.env;
// A relative path is another file in another working directory.
if (!isAbsolute(DATABASE)) throw new Error('DATABASE must be the absolute path of a file');
const database = new Database(DATABASE);
database.exec('PRAGMA busy_timeout=100; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
const storage = sqliteStorage(database);
await storage.createTable();
const plants = toNode(createPlantStore(storage, acceptTokens('secret')));

let ready = true;

const server = createServer((request, response) => {
  // Otherwise a client that keeps its connection could send a request on it just as it is closed.
  if (!ready) response.setHeader('connection', 'close');
  // Alive: the process responds. Ready: no stop has begun. Neither asks the database: in an outage every instance would
  // be removed, and with them the 503 of plant-store, whose Retry-After clients can read.
  if (request.url === '/healthz') response.end();
  else if (request.url === '/readyz') response.writeHead(ready ? 200 : 503).end();
  else plants(request, response);
});

process.once('SIGTERM', async () => {
  ready = false;
  // The load balancer needs time to notice. Until then new requests come, and get their responses.
  await setTimeout(Number(DRAIN_MS));
  server.close(() => database.close());
  // A busy connection becomes idle after its response, so check repeatedly.
  setInterval(() => server.closeIdleConnections(), 100).unref();
  // A connection that never sent a request keeps `close` waiting.
  await setTimeout(10_000, undefined, { ref: false });
  server.closeAllConnections();
});

server.listen(PORT, () => console.log(server.address()));
