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
for (const end of ['settled', 'conflict', 'locked', 'rejected', 'unusable', 'unavailable', 'unknown'])
  batches.inc({ end }, 0);

const failedBatches = new Gauge({
  name: 'plant_store_failed_batches',
  help: 'Batches since one has stored plants, by how they ended',
  labelNames: ['end'],
});
let storedAt = Number.NEGATIVE_INFINITY;

/** The `onBatch` of a storage. */
export const onBatch = (batch: BatchReport) => {
  plants.observe(batch.plants);
  batchSeconds.observe(batch.ms / 1000);
  batches.inc({ end: batch.end });
  if (batch.end !== 'settled') return failedBatches.inc({ end: batch.end });
  failedBatches.reset();
  storedAt = performance.now();
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

/** A gauge of how long ago something was. Alerts compare it between instances. */
const age = (name: string, help: string, readAt: () => number) =>
  gauge(name, help, () => (performance.now() - readAt()) / 1000);

age('stored_seconds', 'How long ago a plant was stored or found taken, +Inf if none was', () => storedAt);

/** Shows the queue of a storage, which has these options. */
export function watchStorage(storage: GroupCommitStorage, maxQueued: number, timeoutMs: number): void {
  gauge('queued', 'Pending creates, of plant_store_queued_max', () => storage.state().queued);
  gauge('queued_max', 'The storage returns 503 to more pending creates', () => maxQueued);
  gauge('in_flight_seconds', 'How long the call in flight has been on its way, 0 if none is', () => {
    return (storage.state().inFlightMs ?? 0) / 1000;
  });
  gauge('timeout_seconds', 'The timeout of a create in its storage', () => timeoutMs / 1000);
  gauge('circuit_open', '1 while creates fail fast, otherwise 0', () => (storage.state().isOpen ? 1 : 0));
  gauge(
    'failed_in_row',
    'Creates that have failed since a plant was stored',
    () => storage.state().failedInRow,
  );
  gauge('failing_seconds', 'How long no plant has been stored since an attempt failed, otherwise 0', () => {
    return (storage.state().failingMs ?? 0) / 1000;
  });
  gauge(
    'rejected_in_row',
    'Plants that the database has rejected since one was stored',
    () => storage.state().rejectedInRow,
  );
  gauge('rejecting_seconds', 'How long no plant has been stored since one was rejected, otherwise 0', () => {
    return (storage.state().rejectingMs ?? 0) / 1000;
  });
}

/** Shows a `pg` Pool, which has this option: whether it is the app that keeps plant-store waiting for a connection. */
export function watchPool(
  pool: { totalCount: number; idleCount: number; waitingCount: number },
  max: number,
): void {
  gauge('pool_max', 'The most connections that the pool opens', () => max);
  gauge('pool_connections', 'The connections of the pool', () => pool.totalCount);
  gauge('pool_idle', 'Those that nobody uses', () => pool.idleCount);
  gauge('pool_waiting', 'Who waits for one', () => pool.waitingCount);
}

/** A token whose verification takes longer counts as one that could not be verified. */
const slowMs = 1_000;
/** When the verifications that have no result began, the oldest first. */
const verifying = new Set<{ readonly since: number }>();
let verifiedAt = Number.NEGATIVE_INFINITY;
/** How many have failed since then, and when the first of them began. */
let [failed, failingSince] = [0, Number.POSITIVE_INFINITY];
const isSlow = ({ since }: { readonly since: number }) => performance.now() - since > slowMs;
const slowOnes = () => [...verifying].filter(isSlow);

gauge('verifying_seconds', 'How long the oldest token has been verified, 0 if none is', () => {
  const [oldest] = verifying;
  return oldest ? (performance.now() - oldest.since) / 1000 : 0;
});
gauge(
  'verifier_failed_in_row',
  'Tokens that were not verified within a second since one was',
  () => failed + slowOnes().length,
);
gauge('verifier_failing_seconds', 'How long ago the first of these came, 0 if there is none', () => {
  const first = Math.min(failingSince, ...slowOnes().map(({ since }) => since));
  return first === Number.POSITIVE_INFINITY ? 0 : (performance.now() - first) / 1000;
});
age(
  'verified_seconds',
  'How long ago a token was verified within a second, +Inf if none was',
  () => verifiedAt,
);

function onVerified(verification: { readonly since: number }): void {
  verifiedAt = performance.now();
  [failed, failingSince] = [0, Number.POSITIVE_INFINITY];
  // The verifier works: what has taken longer is about its own token.
  for (const older of verifying) {
    if (older.since >= verification.since) break;
    verifying.delete(older);
  }
}

function onNotVerified({ since }: { readonly since: number }): void {
  failed++;
  failingSince = Math.min(failingSince, since);
}

/** Shows how long tokens are being verified, and whether they can be. */
export const watchVerifier =
  <Caller>(verifyToken: VerifyToken<Caller>): VerifyToken<Caller> =>
  async (...args) => {
    const verification = { since: performance.now() };
    verifying.add(verification);
    try {
      const caller = await verifyToken(...args);
      if (isSlow(verification)) onNotVerified(verification);
      else onVerified(verification);
      return caller;
    } catch (error) {
      onNotVerified(verification);
      throw error;
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
