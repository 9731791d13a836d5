// Prometheus: response times by error code, and gauges of the queue of a storage, for the alerts of alerts.yml; and a channel for
// agents that trace. `DATABASE_URL=postgres://… node --import tsx examples/around/metrics.ts`.
import { tracingChannel } from 'node:diagnostics_channel';
import express from 'express';
import pg from 'pg';
import {
  acceptTokens,
  type BatchReport,
  createPlantStore,
  errorNumbers,
  type PlantHandler,
  type PlantRequest,
} from 'plant-store';
import { toExpress } from 'plant-store/express';
import { postgresStorage } from 'plant-store/postgres';
import { Counter, Gauge, Histogram, register } from 'prom-client';

const { DATABASE_URL, MAX_QUEUED = '10000', TIMEOUT_MS = '10000' } = process.env;
const maxQueued = Number(MAX_QUEUED);
const timeoutMs = Number(TIMEOUT_MS);

const plants = new Histogram({
  name: 'plant_store_batch_plants',
  help: 'Plants of a batch',
  buckets: [1, 4, 16, 64, 256],
});
const batchSeconds = new Histogram({ name: 'plant_store_batch_seconds', help: 'Duration of a batch' });
const batches = new Counter({
  name: 'plant_store_batches_total',
  help: 'Batches by how they ended',
  labelNames: ['end'],
});
// From the start, because Prometheus sees no increase in a series that begins with 1: the first failure would raise no alert.
for (const end of ['settled', 'conflict', 'locked', 'rejected', 'unavailable', 'unknown'])
  batches.inc({ end }, 0);
// Read at each scrape, because `onBatch` reports a call that hangs only after its timeout.
new Gauge({
  name: 'plant_store_queued',
  help: 'Pending creates, of plant_store_queued_max',
  collect() {
    this.set(storage.state().queued);
  },
});
new Gauge({ name: 'plant_store_queued_max', help: 'The storage returns 503 to more pending creates' }).set(
  maxQueued,
);
new Gauge({
  name: 'plant_store_in_flight_seconds',
  help: 'How long the call in flight has been on its way, 0 if none is',
  collect() {
    this.set((storage.state().inFlightSince ?? 0) / 1000);
  },
});
new Gauge({
  name: 'plant_store_timeout_seconds',
  help: 'The timeout of a create in its storage, and of each call',
}).set(timeoutMs / 1000);
new Gauge({
  name: 'plant_store_circuit_open',
  help: '1 while creates fail fast, otherwise 0',
  collect() {
    this.set(storage.state().isOpen ? 1 : 0);
  },
});

const onBatch = (batch: BatchReport) => {
  plants.observe(batch.plants);
  batchSeconds.observe(batch.ms / 1000);
  batches.inc({ end: batch.end });
};

// Both end before the storage's timeout: the database has then stored nothing, and the response says so.
const timeouts = { connectionTimeoutMillis: timeoutMs / 2, statement_timeout: timeoutMs / 2 };
const pool = new pg.Pool({ connectionString: DATABASE_URL, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(error.message));
const storage = postgresStorage(pool, { maxQueued, timeoutMs, onBatch });
await storage.check();
const handle = createPlantStore(storage, acceptTokens('secret'));

const seconds = new Histogram({
  name: 'plant_store_response_seconds',
  help: 'Responses of POST /plants by error code, 0 for a created plant',
  labelNames: ['error'],
});
for (const error of [0, ...Object.values(errorNumbers)]) seconds.zero({ error });

// Whoever subscribes to this channel sees each request from its start to its end: an APM agent, a test.
const channel = tracingChannel<unknown, { request: PlantRequest }>('plant-store');

const measured: PlantHandler = async (request) => {
  const stop = seconds.startTimer();
  const response = await channel.tracePromise(handle, { request }, undefined, request);
  const { error = 0 } = response;
  // 40401 and 40501 mean that the request falls through to the app: do not count them.
  if (error !== 40401 && error !== 40501) stop({ error });
  return response;
};

const app = express();
app.use('/api', toExpress(measured)); // POST /api/plants
app.get('/metrics', async (_request, response) => {
  response.type(register.contentType).send(await register.metrics());
});

export const server = app.listen(process.env.PORT ?? 3000, (error) => {
  if (error) throw error;
  console.log(server.address());
});
