// Prometheus: response times by error code, and gauges of the queue of a storage; and a channel for agents that trace.
import { tracingChannel } from 'node:diagnostics_channel';
import express from 'express';
import Database from 'libsql';
import {
  acceptTokens,
  type BatchReport,
  createPlantStore,
  type PlantHandler,
  type PlantRequest,
} from 'plant-store';
import { toExpress } from 'plant-store/express';
import { sqliteStorage } from 'plant-store/sqlite';
import { Counter, Gauge, Histogram, register } from 'prom-client';

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
// Read at each scrape, because `onBatch` reports a call that hangs only after its timeout.
new Gauge({
  name: 'plant_store_queued',
  help: 'Pending creates, of maxQueued',
  collect() {
    this.set(storage.state().queued);
  },
});
new Gauge({
  name: 'plant_store_in_flight_seconds',
  help: 'How long the call in flight has been on its way, 0 if none is',
  collect() {
    this.set((storage.state().inFlightSince ?? 0) / 1000);
  },
});
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

const storage = sqliteStorage(new Database(':memory:'), { onBatch });
await storage.createTable();
const handle = createPlantStore(storage, acceptTokens('secret'));

const seconds = new Histogram({
  name: 'plant_store_response_seconds',
  help: 'Responses of POST /plants by error code, 0 for a created plant',
  labelNames: ['error'],
});

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
