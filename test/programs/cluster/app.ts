import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { acceptTokens, createPlantStore, type PlantHandler, type PlantStorage } from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { randomOf } from '../../support/random.js';
import { Attempts, numberOf, outcomes } from './attempts.js';
import { type Answer, type AppSettings, groupOf, retries, type ToApp, type ToLoad } from './load.js';
import { clientOf, createAtLast } from './retrying-client.js';

// One app: its half of the creators, each of which posts one plant after the other to any of the app's stores.

const settings: AppSettings = JSON.parse(process.argv[2]!);
const { app, apps, creators, pauseMs, retrying, rivals, seed, table, timeoutMs, urls } = settings;
const attempts = new Attempts();
/** How long the creators may take to end once they are told to stop. */
const graceMs = 75_000;
const waiting = new Map<number, () => void>();
let stopped = false;

process.on('message', (message: ToApp) => {
  if (message === 'stop') stopped = true;
  // Once all stop, no rival comes: release the creators that wait for one.
  for (const [creator, go] of [...waiting]) {
    if (message === 'stop' || message.includes(creator)) {
      waiting.delete(creator);
      go();
    }
  }
});
// The parent process has ended.
process.on('disconnect', () => process.exit());

const handles = urls.map((url) => storeAt(url));
const acceptReplays = retrying === 'with acceptReplays';
const client = retrying && (await clientOf(storeAt(urls[0]!, acceptReplays), acceptReplays, attempts));
const mine = Array.from({ length: creators / apps }, (_, i) => i * apps + app);
const reporting = setInterval(report, 50);
await Promise.race([Promise.all(mine.map(create)), untilGraceIsOver()]);
clearInterval(reporting);
attempts.abandon();
report();
process.disconnect();

function storeAt(url: string, acceptReplays = false): PlantHandler {
  return createPlantStore(open(url), acceptTokens('secret'), {
    ...(timeoutMs && { timeoutMs: timeoutMs + 1_000 }),
    acceptReplays,
    onError,
  });
}

async function untilGraceIsOver(): Promise<void> {
  while (!stopped) await sleep(100, undefined, { ref: false });
  await sleep(graceMs, undefined, { ref: false });
}

function open(url: string): PlantStorage {
  const group = { table, ...(timeoutMs && { timeoutMs }) };
  if (url.startsWith('mysql:')) {
    const tuned = timeoutMs && { connectionLimit: 4, connectTimeout: 2_000 };
    return mysqlStorage(mysql.createPool({ uri: url, ...tuned, ...settings.pool }), group);
  }
  const tuned = timeoutMs && { max: 4, connectionTimeoutMillis: 2_000 };
  const pool = new pg.Pool({ connectionString: url, ...tuned, ...settings.pool });
  // Without a listener, a dropped idle connection crashes the process.
  pool.on('error', () => {});
  return postgresStorage(pool, group);
}

async function create(creator: number): Promise<void> {
  const choose = randomOf(seed + creator);
  const unfinished = new Set<Promise<void>>();
  for (let round = 0; !stopped; round++) {
    const isRace = rivals > 0 && round % 4 === 3;
    if (isRace) await meetRivals(creator);
    if (stopped) break;
    const handle = handles[Math.floor(choose() * handles.length)]!;
    const id = idOf(isRace ? creators + groupOf(creator, settings) : creator, round);
    const name = `${creator}/${round}`.padEnd(settings.nameLength ?? 0, '.');
    let isRefused = false;
    if (client && retries(creator, settings)) {
      const ends = createAtLast(client, id, name).finally(() => unfinished.delete(ends));
      unfinished.add(ends);
      // It goes on with the next plant while it retries this one, as a queue of jobs does; its rivals would wait for it.
      await Promise.race([ends, sleep(1_000)]);
    } else {
      isRefused = (await post(handle, id, name)) === 'refused';
    }
    // As `Retry-After` asks: a creator that retried at once would only heat the machine.
    const wait = isRefused ? 1_000 : pauseMs;
    if (wait) await sleep(wait * (0.5 + choose()));
  }
  await Promise.all(unfinished);
}

/** Resolves when all creators that race for an id are ready. */
function meetRivals(creator: number): Promise<void> {
  return new Promise((resolve) => {
    waiting.set(creator, resolve);
    send({ ready: creator });
  });
}

/** Beyond 2^53, where neighbours are one to a double; half of them negative. */
function idOf(owner: number, round: number): string {
  const id = 2n ** 53n + 1n + BigInt(owner) * 1_000_000n + BigInt(round);
  return String(owner % 2 ? -id : id);
}

async function post(handle: PlantHandler, id: string, name: string): Promise<Answer['outcome']> {
  const response = await attempts.send({ id, name }, async () => {
    const { status, body } = await handle({
      method: 'POST',
      url: '/plants',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: `{"id":${id},"name":"${name}"}`,
    });
    return { status, text: body };
  });
  return outcomes[numberOf(response)]!;
}

function onError(error: unknown, _request: unknown, number: number): void {
  let cause = error as { message?: string; code?: unknown; cause?: unknown };
  while (cause?.cause) cause = cause.cause as typeof cause;
  // Not thrown here, where plant-store ignores it.
  if (number === 50004) process.nextTick(() => Promise.reject(error));
  const code = typeof cause?.code === 'string' ? `${cause.code} ` : '';
  // One kind, whatever its port or process number.
  const what = `${code}${cause?.message ?? cause}`.replace(/\d{5,}/g, '#');
  send({ failed: `${outcomes[number]}: ${what}` });
}

function report(): void {
  const { external, heapUsed } = process.memoryUsage();
  // What sockets buffer is no part of the heap.
  const told = attempts.take();
  if (told.length > 0) send({ told, memory: heapUsed + external });
}

function send(message: ToLoad): void {
  if (process.connected) process.send!(message);
}
