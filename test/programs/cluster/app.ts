import mysql from 'mysql2/promise';
import pg from 'pg';
import {
  acceptTokens,
  createPlantStore,
  type PlantHandler,
  type PlantStorage,
  StorageBusy,
} from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { randomOf } from '../../support/random.js';
import { type Answer, type AppSettings, groupOf, type ToApp, type ToLoad } from './load.js';

// One app: its half of the creators, each of which posts one plant after the other to any of the app's stores.

const settings: AppSettings = JSON.parse(process.argv[2]!);
const { app, apps, creators, pauseMs, rivals, seed, table, timeoutMs, urls } = settings;
const told: Answer[] = [];
/** The outcome of a plant by the code of the response: no other code may come. */
const outcomes: Record<number, Answer['outcome']> = {
  200: 'created',
  40003: 'taken',
  50001: 'unknown',
  // A lone plant whose statement an administrator cancelled; `onError` accepts no other cause.
  50004: 'refused',
  50301: 'refused',
  50302: 'unknown',
};
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

const handles = urls.map((url) =>
  createPlantStore(open(url), acceptTokens('secret'), {
    ...(timeoutMs && { timeoutMs: timeoutMs + 1_000 }),
    onError,
  }),
);
const mine = Array.from({ length: creators / apps }, (_, i) => i * apps + app);
const reporting = setInterval(report, 20);
await Promise.all(mine.map(create));
clearInterval(reporting);
report();
process.disconnect();

function open(url: string): PlantStorage {
  const group = { table, ...(timeoutMs && { timeoutMs }) };
  if (url.startsWith('mysql:')) {
    const tuned = timeoutMs && { connectionLimit: 4, connectTimeout: 2_000 };
    return mysqlStorage(mysql.createPool({ uri: url, ...tuned }), group);
  }
  const tuned = timeoutMs && { max: 4, connectionTimeoutMillis: 2_000 };
  const pool = new pg.Pool({ connectionString: url, ...tuned });
  // Without a listener, a dropped idle connection crashes the process.
  pool.on('error', () => {});
  return postgresStorage(pool, group);
}

async function create(creator: number): Promise<void> {
  const choose = randomOf(seed + creator);
  for (let round = 0; !stopped; round++) {
    const isRace = rivals > 0 && round % 4 === 3;
    if (isRace) await meetRivals(creator);
    if (stopped) return;
    const handle = handles[Math.floor(choose() * handles.length)]!;
    const id = idOf(isRace ? creators + groupOf(creator, settings) : creator, round);
    const answer = await post(handle, id, `${creator}/${round}`);
    told.push(answer);
    // As `Retry-After` asks: a creator that retried at once would only heat the machine.
    const wait = answer.outcome === 'refused' ? 1_000 : pauseMs;
    if (wait) await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + choose())));
  }
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

async function post(handle: PlantHandler, id: string, name: string): Promise<Answer> {
  const start = performance.now();
  const { status, body } = await handle({
    method: 'POST',
    url: '/plants',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    body: `{"id":${id},"name":"${name}"}`,
  });
  const number: number = status === 200 ? 200 : JSON.parse(body).error;
  const outcome = outcomes[number];
  if (!outcome) throw new Error(`${status} ${body}`);
  // By the clock that the test reads: performance.timeOrigin does not follow it when it is set.
  return { id, name, outcome, number, at: Date.now(), took: performance.now() - start };
}

function onError(error: unknown, _request: unknown, number: number): void {
  let cause = error as { message?: string; code?: unknown; cause?: unknown };
  while (cause?.cause) cause = cause.cause as typeof cause;
  // Not thrown here, where plant-store ignores it.
  if (number === 50004 && cause?.code !== '57014') process.nextTick(() => Promise.reject(error));
  const code = typeof cause?.code === 'string' ? `${cause.code} ` : '';
  const isRefused = error instanceof StorageBusy || number === 50004;
  // One kind, whatever its port or process number.
  const what = `${code}${cause?.message ?? cause}`.replace(/\d{5,}/g, '#');
  send({ failed: `${isRefused ? 'refused' : 'unknown'}: ${what}` });
}

function report(): void {
  const { external, heapUsed } = process.memoryUsage();
  // What sockets buffer is no part of the heap.
  if (told.length > 0) send({ told: told.splice(0), memory: heapUsed + external });
}

function send(message: ToLoad): void {
  if (process.connected) process.send!(message);
}
