// An app with plant-store that has what an incident needs: a pool and a verifier that can be harmed while it runs, by
// `POST /harm/NAME`, and again made whole by `POST /heal`.
import express from 'express';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { acceptTokens, createPlantStore, guard } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { register } from 'prom-client';
import { measure, onBatch, watchPool, watchStorage, watchVerifier } from '../../examples/around/metrics.js';

const { DATABASE_URL = '', MAX_QUEUED = '10000', REQUEST_MS = '30000', ISSUER = '' } = process.env;
const timeoutMs = 10_000;
const options = { maxQueued: Number(MAX_QUEUED), timeoutMs, onBatch };
const timeouts = { connectionTimeoutMillis: timeoutMs / 2, statement_timeout: timeoutMs / 2 };
const isMysql = DATABASE_URL.startsWith('mysql');

const pool = new pg.Pool({ connectionString: isMysql ? undefined : DATABASE_URL, ...timeouts });
pool.on('error', (error) => console.error(error.message));
const mysql = createPool({ uri: isMysql ? DATABASE_URL : 'mysql://localhost', connectTimeout: 5_000 });
const storage = isMysql ? mysqlStorage(mysql, options) : postgresStorage(pool, options);
watchStorage(storage, options.maxQueued, timeoutMs);
if (!isMysql) watchPool(pool);
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
    const clients = await Promise.all(Array.from({ length: 10 }, connect));
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
