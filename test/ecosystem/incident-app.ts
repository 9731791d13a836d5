// An app with plant-store that has what an incident needs: a pool and a verifier that can be harmed while it runs, by
// `POST /harm/NAME`, and again made whole by `POST /heal`.
import express from 'express';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { acceptTokens, type BatchReport, createPlantStore, describeError, guard } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { register } from 'prom-client';
import { measure, onBatch, watchPool, watchStorage, watchVerifier } from '../../examples/around/metrics.js';
import { d1Binding } from './d1-binding.js';

const { DATABASE_URL = '', MAX_QUEUED = '10000', REQUEST_MS = '30000', ISSUER = '' } = process.env;
const timeoutMs = 10_000;

/** What `onBatch` has reported. */
const batches = { stored: 0, failed: {} as Record<string, number> };
const options = {
  maxQueued: Number(MAX_QUEUED),
  timeoutMs,
  onBatch(batch: BatchReport) {
    onBatch(batch);
    const { end, plants, failed } = batch;
    if (end === 'settled') batches.stored += plants - failed;
    batches.failed[end] = (batches.failed[end] ?? 0) + failed;
  },
};
const timeouts = { connectionTimeoutMillis: timeoutMs / 2, statement_timeout: timeoutMs / 2 };
const isMysql = DATABASE_URL.startsWith('mysql');

/** A handle of a file, of a server of libSQL, or of a D1; none of another database. */
async function openSqlite() {
  if (DATABASE_URL.startsWith('d1:')) return d1Binding(DATABASE_URL.slice(3));
  if (!/^(file|http):/.test(DATABASE_URL)) return undefined;
  // Installed for the heavy tests alone: the compiler does not look for it.
  const client: string = '@libsql/client';
  const { createClient } = await import(client);
  return createClient({ url: DATABASE_URL, timeout: 5_000 });
}

const pool = new pg.Pool({
  connectionString: DATABASE_URL.startsWith('postgres') ? DATABASE_URL : undefined,
  ...timeouts,
});
pool.on('error', (error) => console.error(describeError(error)));
const mysql = createPool({ uri: isMysql ? DATABASE_URL : 'mysql://localhost', connectTimeout: 5_000 });
const sqlite = await openSqlite();
const storage = sqlite
  ? sqliteStorage(sqlite, options)
  : isMysql
    ? mysqlStorage(mysql, options)
    : postgresStorage(pool, options);
watchStorage(storage, options.maxQueued, timeoutMs);
if (DATABASE_URL.startsWith('postgres')) watchPool(pool, 10);
await storage.check();

let isFaulty = false;
const heals: (() => void)[] = [];
const accept = acceptTokens('secret');
/** How tokens are verified now. */
let verify = accept;
const verifyToken: typeof accept = (...args) => verify(...args);
const introspect = (path: string) => {
  verify = async (...args) => {
    await fetch(`${ISSUER}${path}`);
    return accept(...args);
  };
};

/** What is done to the app. */
const harms: Readonly<Record<string, () => unknown>> = {
  async 'hold the pool'() {
    const connect = (): Promise<{ release(): void }> => (isMysql ? mysql.getConnection() : pool.connect());
    // One after the other: on a busy machine ten logins at once may take longer than the pool waits for one.
    const clients: { release(): void }[] = [];
    while (clients.length < 10) clients.push(await connect());
    heals.push(() => {
      for (const client of clients) client.release();
    });
  },
  'leak a transaction'() {
    const leaking = setInterval(async () => {
      const client = await pool.connect();
      await client.query('BEGIN');
      client.release();
    }, 1_000);
    heals.push(() => clearInterval(leaking));
  },
  'end the pool': () => pool.end(),
  // For the connections that come: the test ends those that are there.
  'lose the name': () => Object.assign(pool.options, { connectionString: undefined, host: 'plants.invalid' }),
  'ask for TLS': () => Object.assign(pool.options, { ssl: true }),
  'block the loop'() {
    // Asleep, and not busy: other apps are tried on this machine at the same time.
    const word = new Int32Array(new SharedArrayBuffer(4));
    const blocking = setInterval(() => Atomics.wait(word, 0, 0, 1_500), 1_600);
    heals.push(() => clearInterval(blocking));
  },
  'use up the memory'() {
    const held: unknown[] = [];
    setInterval(() => held.push(Array.from({ length: 1e6 }, () => ({ held }))), 10);
  },
  'verify, refused': () => introspect('/refused'),
  'verify, hangs': () => introspect('/hangs'),
  'verify, slow': () => introspect('/slow'),
  'fail to verify'() {
    verify = () => {
      throw new Error('no key set');
    };
  },
  'answer wrongly'() {
    isFaulty = true;
  },
};

const app = express();
app.post('/harm/:name', async (request, response) => {
  await harms[request.params.name]!();
  response.end();
});
app.post('/heal', (_request, response) => {
  verify = accept;
  isFaulty = false;
  for (const heal of heals.splice(0)) heal();
  response.end();
});
app.get('/batches', (_request, response) => void response.json(batches));
app.get('/metrics', async (_request, response) => {
  response.type(register.contentType).send(await register.metrics());
});
const handle = createPlantStore(storage, watchVerifier(verifyToken), { timeoutMs: Number(REQUEST_MS) });
const faulty = guard(verifyToken, () => {
  throw new Error('a bug in the answer');
});
const measured = measure(handle);
app.use('/parsed', (request, _response, next) => void request.resume().on('end', next), toExpress(measured));
app.use('/api', toExpress(measure((request) => (isFaulty ? faulty : handle)(request))));

const server = app.listen(0, () => console.log(server.address()));
