import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { acceptTokens, createPlantStore, type PlantHandler, type PlantStorage } from 'plant-store';
import { createPlantClient, type PlantClient, PlantError } from 'plant-store/client';
import { mysqlStorage } from 'plant-store/mysql';
import { toNode } from 'plant-store/node';
import { postgresStorage } from 'plant-store/postgres';
import { randomOf } from '../../support/random.js';
import { type Answer, type AppSettings, groupOf, retries, type ToApp, type ToLoad } from './load.js';

// One app: its half of the creators, each of which posts one plant after the other to any of the app's stores.

const settings: AppSettings = JSON.parse(process.argv[2]!);
const {
  app,
  apps,
  creators,
  pauseMs,
  pool: poolOptions,
  retrying,
  rivals,
  seed,
  table,
  timeoutMs,
  urls,
} = settings;
const told: Answer[] = [];
/** Attempts that have not settled, and when each began. */
const underway = new Map<{ id: string; name: string; isRetried?: boolean }, number>();
/** How long the creators may take to end once they are told to stop. */
const graceMs = 75_000;
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

const handles = urls.map((url) => storeAt(url));
const client = retrying && (await clientOf(storeAt(urls[0]!, retrying === 'with acceptReplays')));
const mine = Array.from({ length: creators / apps }, (_, i) => i * apps + app);
const reporting = setInterval(report, 20);
await Promise.race([Promise.all(mine.map(create)), untilGraceIsOver()]);
clearInterval(reporting);
for (const [attempt, start] of underway) settle(attempt, 'unsettled', 0, performance.now() - start);
report();
process.disconnect();
if (underway.size > 0) process.exit();

function storeAt(url: string, acceptReplays = false): PlantHandler {
  return createPlantStore(open(url), acceptTokens('secret'), {
    ...(timeoutMs && { timeoutMs: timeoutMs + 1_000 }),
    acceptReplays,
    onError,
  });
}

/** A client of a server of this handler, which reports each of its attempts. */
async function clientOf(handle: PlantHandler): Promise<PlantClient> {
  const server = createServer(toNode(handle)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  // It lives as long as the creators do.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return createPlantClient(`http://127.0.0.1:${port}`, {
    token: 'secret',
    acceptReplays: retrying === 'with acceptReplays',
    async fetch(url, { method, headers, body, signal }) {
      const { id, name } = plantIn(body);
      const { status, text, received } = await attempt({ id, name, isRetried: true }, async () => {
        const response = await fetch(url, { method, headers, body, signal } as RequestInit);
        const read = await response.text();
        return { status: response.status, text: read, received: response.headers };
      });
      return { status, headers: received, text: async () => text };
    },
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
    return mysqlStorage(mysql.createPool({ uri: url, ...tuned, ...poolOptions }), group);
  }
  const tuned = timeoutMs && { max: 4, connectionTimeoutMillis: 2_000 };
  const pool = new pg.Pool({ connectionString: url, ...tuned, ...poolOptions });
  // Without a listener, a dropped idle connection crashes the process.
  pool.on('error', () => {});
  return postgresStorage(pool, group);
}

async function create(creator: number): Promise<void> {
  const choose = randomOf(seed + creator);
  const isClient = retries(creator, settings);
  const unfinished = new Set<Promise<void>>();
  for (let round = 0; !stopped; round++) {
    const isRace = rivals > 0 && round % 4 === 3;
    if (isRace) await meetRivals(creator);
    if (stopped) break;
    const handle = handles[Math.floor(choose() * handles.length)]!;
    const id = idOf(isRace ? creators + groupOf(creator, settings) : creator, round);
    const name = `${creator}/${round}`;
    let isRefused = false;
    if (isClient) {
      const ends = createAtLast(id, name).finally(() => unfinished.delete(ends));
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

/** Creates a plant by the client, and again whenever the client gives up, until it is stored or the id is another plant's. */
async function createAtLast(id: string, name: string): Promise<void> {
  for (;;) {
    try {
      await (client as PlantClient).create({ id: BigInt(id), name });
      return;
    } catch (error) {
      if (!(error instanceof PlantError)) throw error;
      if (error.problem === 'id_taken') return;
      await sleep(500);
    }
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

async function post(handle: PlantHandler, id: string, name: string): Promise<Answer['outcome']> {
  const { status, text } = await attempt({ id, name }, async () => {
    const { status, body } = await handle({
      method: 'POST',
      url: '/plants',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: `{"id":${id},"name":"${name}"}`,
    });
    return { status, text: body };
  });
  return outcomes[numberOf(status, text)]!;
}

/** Sends one attempt, and reports what it was told. */
async function attempt<Response extends { readonly status: number; readonly text: string }>(
  plant: { readonly id: string; readonly name: string; readonly isRetried?: boolean },
  send: () => Promise<Response>,
): Promise<Response> {
  const start = performance.now();
  underway.set(plant, start);
  const response = await send();
  underway.delete(plant);
  const number = numberOf(response.status, response.text);
  const outcome = outcomes[number];
  if (!outcome) throw new Error(`${response.status} ${response.text}`);
  settle(plant, outcome, number, performance.now() - start);
  return response;
}

function settle(
  plant: { readonly id: string; readonly name: string; readonly isRetried?: boolean },
  outcome: Answer['outcome'],
  number: number,
  took: number,
): void {
  // By the clock that the test reads: performance.timeOrigin does not follow it when it is set.
  told.push({ ...plant, outcome, number, at: Date.now(), took });
}

function numberOf(status: number, text: string): number {
  return status === 200 ? 200 : JSON.parse(text).error;
}

/** The id with all its digits, and the name. */
function plantIn(body: string): { id: string; name: string } {
  const [, id, name] = /^\{"id":(-?\d+),"name":"([^"]+)"/.exec(body)!;
  return { id: id!, name: name! };
}

function onError(error: unknown, _request: unknown, number: number): void {
  let cause = error as { message?: string; code?: unknown; cause?: unknown };
  while (cause?.cause) cause = cause.cause as typeof cause;
  // Not thrown here, where plant-store ignores it.
  if (number === 50004 && cause?.code !== '57014') process.nextTick(() => Promise.reject(error));
  const code = typeof cause?.code === 'string' ? `${cause.code} ` : '';
  // One kind, whatever its port or process number.
  const what = `${code}${cause?.message ?? cause}`.replace(/\d{5,}/g, '#');
  send({ failed: `${outcomes[number]}: ${what}` });
}

function report(): void {
  const { external, heapUsed } = process.memoryUsage();
  // What sockets buffer is no part of the heap.
  if (told.length > 0) send({ told: told.splice(0), memory: heapUsed + external });
}

function send(message: ToLoad): void {
  if (process.connected) process.send!(message);
}
