/**
 * `npm run test:soak`: millions of requests and floods of bad ones, after which no memory, timer, socket or listener may
 * remain; during each flood a well-behaved client is served. About ten minutes; `-- --quick` takes half a minute.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptTokens, createPlantStore, groupCommit, type PlantRequest } from 'plant-store';
import { toNode } from 'plant-store/node';
import { Creators, token } from '../../support/creators.js';
import { listen } from '../../support/sockets.js';

const isQuick = process.argv.includes('--quick');
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

const line = 'POST /plants HTTP/1.1\r\nHost: x\r\n';
const head = `${line}Content-Type: application/json\r\nAuthorization: Bearer `;
const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
/** What a client of a flood writes on its connection, again when a response or room for more arrives. */
const floods = {
  'slow heads': (socket: Socket) => {
    socket.write(line);
    const dripping = setInterval(() => socket.writable && socket.write('X'), 100);
    socket.on('close', () => clearInterval(dripping));
  },
  'stalled uploads': (socket: Socket) => void socket.write(`${head}${token}\r\nContent-Length: 99\r\n\r\n{`),
  'uploads without end': (socket: Socket) => {
    socket.write(`${head}${token}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const pour = () => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', pour);
    pour();
  },
  'clients that disconnect': (socket: Socket) => {
    socket.write(`${head}${token}\r\nContent-Length: 30\r\n\r\n{"id":1,`, () => socket.resetAndDestroy());
  },
  'invalid tokens': (socket: Socket) => {
    const write = () => socket.write(`${head}wrong\r\nContent-Length: 2\r\n\r\n{}`);
    socket.on('data', write);
    write();
  },
};

interface Job {
  readonly port: number;
  readonly kind: keyof typeof floods | 'creates';
}

/** The clients, in their own process, so that their memory is not counted as the server's: one job after the other, until `stop`. */
async function runClients(): Promise<void> {
  for (;;) {
    const [job] = (await once(process, 'message')) as [Job];
    await run(job, once(process, 'message'));
    process.send!('stopped');
  }
}

async function run({ port, kind }: Job, stopped: Promise<unknown>): Promise<void> {
  let isStopped = false;
  stopped.then(() => {
    isStopped = true;
  });
  let count = 0;
  const counted = () => ++count === 64 && process.send!('enough');
  if (kind === 'creates') {
    const creators = new Creators(port);
    let lastId = 0;
    const create = async () => {
      while (!isStopped) {
        const { status, body } = await creators.create(++lastId);
        assert.equal(status, 200, body);
        counted();
      }
    };
    await Promise.all(Array.from({ length: 64 }, create));
    await creators.stop();
    return;
  }
  const open = new Set<Socket>();
  const reopen = () => {
    const socket = connect(port, '127.0.0.1', () => floods[kind](socket));
    open.add(socket);
    socket.on('connect', counted).on('error', () => {});
    socket.on('close', () => open.delete(socket) && !isStopped && reopen()).resume();
  };
  for (let i = 0; i < 200; i++) reopen();
  await stopped;
  for (const socket of open) socket.destroy();
}

/** Stores nothing, so that any growth is the library's; `stalled` holds its batches back. */
let stalled: Promise<void> | undefined;
const storage = groupCommit(
  async (plants) => {
    await stalled;
    return plants.map(({ name }) => (name === 'taken' ? 'taken' : 'created'));
  },
  { maxQueued: 600 },
);
const handle = createPlantStore(storage, acceptTokens(token), {
  bodyLimit: 65_536,
  onError() {},
});
let sockets = 0;

async function heapInUse(): Promise<number> {
  // Two turns, so that the last request has run all its callbacks.
  for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

/** Runs work again and again. The first turns warm up; from then on the heap stays as it is. */
async function soak(what: string, work: () => Promise<unknown>): Promise<void> {
  const heaps: number[] = [];
  for (let i = 0; i < (isQuick ? 5 : 10); i++) {
    await work();
    while (sockets > 0) await sleep(10);
    heaps.push(await heapInUse());
  }
  console.log(`${what}: heap in MiB ${heaps.map((heap) => (heap / 2 ** 20).toFixed(1)).join(' ')}`);
  const growth = heaps.at(-1)! - Math.max(...heaps.slice(1, 4));
  assert.ok(growth < 4 * 2 ** 20, `${what}: the heap grew by ${growth} bytes`);
}

/** One signal for all requests: a listener that is left on it would be seen. */
const client = new AbortController();

async function callHandle(): Promise<void> {
  const bodies = ['{"id":1,"name":"Rosa canina"}', '{"id":"1"}', '{', '{"id":1,"name":"taken"}'];
  const requestOf = (i: number): PlantRequest => ({
    method: 'POST',
    url: '/plants',
    headers: i % 16 === 5 ? { ...headers, authorization: 'Bearer wrong' } : headers,
    body: bodies[i % 4],
    signal: client.signal,
  });
  for (let i = 0; i < (isQuick ? 10_000 : 500_000); i += 500)
    await Promise.all(Array.from({ length: 500 }, (_, j) => handle(requestOf(i + j))));
}

/** Lets clients send for a while, beside one well-behaved client. */
async function beside(clients: ChildProcess, { port, kind }: Job): Promise<void> {
  clients.send({ port, kind });
  let isEnough = false;
  clients.once('message', () => {
    isEnough = true;
  });
  const creators = new Creators(port);
  const end = performance.now() + (isQuick ? 300 : 5_000);
  let longest = 0;
  // On a busy machine the flood may take longer to begin.
  for (let id = 0; performance.now() < end || !isEnough; id++) {
    const start = performance.now();
    assert.equal((await creators.create(-id)).status, 200);
    longest = Math.max(longest, performance.now() - start);
  }
  await creators.stop();
  clients.send('stop');
  await once(clients, 'message');
  // The quick run is the suite's, which never fails on a time.
  assert.ok(isQuick || longest < 2_000, `beside ${kind}, a client waited for ${longest} ms`);
}

/** 700 creates while the storage is stalled: 100 are rejected at once, the others are stored when it returns. */
async function stall(port: number): Promise<void> {
  const creators = new Creators(port);
  let release = () => {};
  stalled = new Promise((resolve) => {
    release = resolve;
  });
  const creates = Array.from({ length: 700 }, (_, id) => creators.create(id));
  let settled = 0;
  for (const create of creates) create.then(() => settled++);
  while (settled < 100) await sleep(5);
  release();
  stalled = undefined;
  const statuses = (await Promise.all(creates)).map(({ status }) => status);
  await creators.stop();
  assert.equal(statuses.filter((status) => status === 200).length, 600);
  assert.equal(statuses.filter((status) => status === 503).length, 100);
}

if (process.argv.includes('clients')) await runClients();
else {
  await soak('calls of handle', callHandle);
  const server = createServer({ connectionsCheckingInterval: 500, headersTimeout: 1_000 }, toNode(handle));
  server.on('connection', (socket) => {
    sockets++;
    socket.on('close', () => sockets--);
  });
  const { port, close } = await listen(server);
  await soak('a stalled storage', () => stall(port));
  // One process for all of them: to start it takes most of a second of a core.
  const clients = fork(new URL(import.meta.url), ['clients']);
  for (const kind of ['creates', ...Object.keys(floods)] as Job['kind'][])
    await soak(kind, () => beside(clients, { port, kind }));
  clients.kill();
  await once(clients, 'exit');
  await close();
  await heapInUse();
  assert.deepEqual(getEventListeners(client.signal, 'abort'), [], 'a listener is left on the signal');
  const left = process.getActiveResourcesInfo().filter((name) => !/^(TTYWrap|PipeWrap|FSReq)/.test(name));
  assert.deepEqual(left, [], 'timers, sockets or handles are left');
  console.log(`\n${Object.keys(floods).length + 3} passed, 0 failed`);
}
