// Prometheus: response times by error code, who waits for what, and how batches end, for the alerts of alerts.yml and the dashboard of
// dashboard.json; and a channel for agents that trace. `metrics-app.ts` is an app with them.
import { tracingChannel } from 'node:diagnostics_channel';
import {
  type BatchReport,
  errorNumbers,
  type GroupCommitStorage,
  type PlantHandler,
  type PlantRequest,
  type VerifyToken,
} from 'plant-store';
import { Counter, collectDefaultMetrics, Gauge, Histogram } from 'prom-client';

// Of Node itself: the event loop, the memory.
collectDefaultMetrics();

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

/** The `onBatch` of a storage. */
export const onBatch = (batch: BatchReport) => {
  plants.observe(batch.plants);
  batchSeconds.observe(batch.ms / 1000);
  batches.inc({ end: batch.end });
};

/** A gauge that is read at each scrape: what hangs is seen before it has timed out. */
const gauge = (name: string, help: string, read: () => number) =>
  new Gauge({
    name: `plant_store_${name}`,
    help,
    collect() {
      this.set(read());
    },
  });

/** Shows the queue of a storage, which has these options. */
export function watchStorage(storage: GroupCommitStorage, maxQueued: number, timeoutMs: number): void {
  gauge('queued', 'Pending creates, of plant_store_queued_max', () => storage.state().queued);
  gauge('queued_max', 'The storage returns 503 to more pending creates', () => maxQueued);
  gauge('in_flight_seconds', 'How long the call in flight has been on its way, 0 if none is', () => {
    return (storage.state().inFlightSince ?? 0) / 1000;
  });
  gauge('timeout_seconds', 'The timeout of a create in its storage', () => timeoutMs / 1000);
  gauge('circuit_open', '1 while creates fail fast, otherwise 0', () => (storage.state().isOpen ? 1 : 0));
}

/** Shows a `pg` Pool: whether it is the app that keeps plant-store waiting for a connection. */
export function watchPool(pool: { totalCount: number; idleCount: number; waitingCount: number }): void {
  gauge('pool_connections', 'The connections of the pool', () => pool.totalCount);
  gauge('pool_idle', 'Those that nobody uses', () => pool.idleCount);
  gauge('pool_waiting', 'Who waits for one', () => pool.waitingCount);
}

const verifying = new Set<{ readonly since: number }>();
gauge('verifying_seconds', 'How long the oldest token has been verified, 0 if none is', () => {
  const [oldest] = verifying;
  return oldest ? (performance.now() - oldest.since) / 1000 : 0;
});

/** Shows how long tokens are being verified. */
export const watchVerifier =
  <Caller>(verifyToken: VerifyToken<Caller>): VerifyToken<Caller> =>
  async (...args) => {
    const verification = { since: performance.now() };
    verifying.add(verification);
    try {
      return await verifyToken(...args);
    } finally {
      verifying.delete(verification);
    }
  };

const seconds = new Histogram({
  name: 'plant_store_response_seconds',
  help: 'Responses of POST /plants by error code, 0 for a created plant',
  labelNames: ['error'],
});
for (const error of [0, ...Object.values(errorNumbers)]) seconds.zero({ error });

// Whoever subscribes to this channel sees each request from its start to its end: an APM agent, a test.
const channel = tracingChannel<unknown, { request: PlantRequest }>('plant-store');

/** Measures the responses of a handler. */
export function measure(handle: PlantHandler): PlantHandler {
  return async (request) => {
    const stop = seconds.startTimer();
    const response = await channel.tracePromise(handle, { request }, undefined, request);
    const { error = 0 } = response;
    // 40401 and 40501 mean that the request falls through to the app: do not count them.
    if (error !== 40401 && error !== 40501) stop({ error });
    return response;
  };
}
