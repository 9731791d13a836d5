import mysql from 'mysql2/promise';
import pg from 'pg';
import { acceptTokens, createPlantStore, type PlantHandler, type PlantStorage } from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import type { Told } from './checker.js';
import { type AppSettings, creators, random, type ToApp, type ToLoad } from './load.js';

// One app: its half of the creators, each of which posts one plant after the other to any of the app's stores.

const settings: AppSettings = JSON.parse(process.argv[2]!);
const { app, apps, seed, table, urls } = settings;
const told: Told[] = [];
const waiting = new Map<number, () => void>();
let stopped = false;

process.on('message', (message: ToApp) => {
  if (message === 'stop') stopped = true;
  // Those who wait for rivals wait in vain once all stop.
  for (const [creator, go] of [...waiting]) {
    if (message === 'stop' || message.includes(creator)) {
      waiting.delete(creator);
      go();
    }
  }
});
// The parent is gone.
process.on('disconnect', () => process.exit());

const handles = urls.map((url) =>
  createPlantStore(open(url), acceptTokens('secret'), { timeoutMs: 5_000, onError }),
);
const mine = creators.filter((creator) => creator % apps === app);
const reporting = setInterval(report, 20);
await Promise.all(mine.map(create));
clearInterval(reporting);
report();
process.disconnect();

function open(url: string): PlantStorage {
  const group = { table, timeoutMs: 4_000 };
  if (url.startsWith('mysql:')) {
    return mysqlStorage(mysql.createPool({ uri: url, connectionLimit: 4, connectTimeout: 2_000 }), group);
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: 4,
    connectionTimeoutMillis: 2_000,
    query_timeout: 4_500,
  });
  pool.on('error', () => {});
  return postgresStorage(pool, group);
}

async function create(creator: number): Promise<void> {
  const choose = random(seed + creator);
  for (let round = 0; !stopped; round++) {
    const isRace = round % 4 === 3;
    if (isRace) await rivals(creator);
    if (stopped) return;
    const handle = handles[Math.floor(choose() * handles.length)]!;
    const id = idOf(isRace ? creators.length + (creator % 16) : creator, round);
    const name = `${creator}/${round}`;
    told.push({ id, name, outcome: await post(handle, id, name) });
  }
}

/** Resolves when all three who race for an id are there. */
function rivals(creator: number): Promise<void> {
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

async function post(handle: PlantHandler, id: string, name: string): Promise<Told['outcome']> {
  const { status, body } = await handle({
    method: 'POST',
    url: '/plants',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    body: `{"id":${id},"name":"${name}"}`,
  });
  if (status === 200) return 'created';
  if (status >= 500) return 'unknown';
  if (JSON.parse(body).error === 40003) return 'taken';
  throw new Error(`${status} ${body}`);
}

function onError(error: unknown): void {
  let cause = error as { message?: string; code?: unknown; cause?: unknown };
  while (cause?.cause) cause = cause.cause as typeof cause;
  const code = typeof cause?.code === 'string' ? `${cause.code} ` : '';
  // One kind, whatever its port or process number.
  const what = `${code}${cause?.message ?? cause}`.replace(/\d{5,}/g, '#');
  send({ failed: what });
}

function report(): void {
  if (told.length > 0) send({ told: told.splice(0) });
}

function send(message: ToLoad): void {
  if (process.connected) process.send!(message);
}
