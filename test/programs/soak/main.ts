// `npm run test:soak`: millions of requests, after which no timer, socket or listener may remain. Bounded to ten minutes; prints its figures.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { acceptTokens, createPlantStore, type PlantRequest, type PlantStorage } from 'plant-store';
import { toNode } from 'plant-store/node';
import { Progress } from '../../support/progress.js';
import { listen } from '../../support/sockets.js';
import type { ClientJob } from './clients.js';

const collect = globalThis.gc;
if (!collect) throw new Error('run it as npm run test:soak does, with --expose-gc');

/** Stores nothing, so that any growth is the library's. */
const storage: PlantStorage = { create: async ({ name }) => (name === 'taken' ? 'taken' : 'created') };
const handle = createPlantStore(storage, acceptTokens('secret'), {
  bodyLimit: 64 * 1024,
  onError: (error) => assert.fail(String(error)),
});

interface Part {
  readonly name: string;
  readonly count: number;
  /** Sends `count` requests, and settles when all of them are over. */
  readonly send: (count: number) => Promise<void>;
}

/** Runs a part in ten slices. The first two warm up; from then on the heap must stay as it is. */
async function soak({ name, count, send }: Part): Promise<void> {
  const started = performance.now();
  const progress = new Progress(10);
  const heaps: number[] = [];
  for (let slice = 1; slice <= 10; slice++) {
    progress.show(name);
    await send(count / 10);
    heaps.push(await heapInUse());
    progress.advance();
  }
  const growth = heaps.at(-1)! - Math.max(...heaps.slice(1, 4));
  const seconds = (performance.now() - started) / 1000;
  const megabytes = heaps.map((heap) => (heap / 2 ** 20).toFixed(1)).join(' ');
  console.log(`${name}: ${count} in ${seconds.toFixed(0)} s; heap after each tenth, in MiB: ${megabytes}`);
  assert.ok(growth < 2 ** 20, `${name}: the heap grew by ${growth} bytes`);
}

async function heapInUse(): Promise<number> {
  // Two turns, so that the last request has run all its callbacks.
  for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve));
  collect!();
  return process.memoryUsage().heapUsed;
}

/** One signal for all requests: a listener that stays behind on it would pile up. */
const client = new AbortController();

function requestOf(i: number): PlantRequest {
  const bodies = [`{"id":${i},"name":"Rosa canina"}`, `{"id":"${i}"}`, '{', '{"id":1,"name":"taken"}'];
  return {
    method: 'POST',
    url: '/plants',
    headers: {
      authorization: i % 16 === 5 ? 'Bearer wrong' : 'Bearer secret',
      'content-type': 'application/json',
    },
    // Three of four are created.
    body: i % 4 ? bodies[0] : bodies[(i / 4) % 4],
    signal: client.signal,
  };
}

async function callHandle(count: number): Promise<void> {
  for (let i = 0; i < count; i += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, j) => handle(requestOf(i + j))));
  }
}

/** Lets clients in another process send, and waits until each of their connections is closed. */
async function fromClients(job: ClientJob): Promise<void> {
  const child = fork(new URL('clients.ts', import.meta.url), [JSON.stringify(job)]);
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, `the clients that send ${job.kind} failed`);
  while (connections > 0) await once(server, 'disconnected');
}

let connections = 0;
const server = createServer(toNode(handle));
server.on('connection', (socket) => {
  connections++;
  socket.on('close', () => {
    connections--;
    server.emit('disconnected');
  });
});
const { port, close } = await listen(server);
const sending = (kind: ClientJob['kind']) => (count: number) => fromClients({ kind, count, port });

const scale = Number(process.env.SOAK_SCALE || 1);
const parts: Part[] = [
  { name: 'creates through handle', count: 5_000_000, send: callHandle },
  { name: 'creates over sockets', count: 300_000, send: sending('creates') },
  { name: 'clients that disconnect', count: 50_000, send: sending('vanishing') },
  { name: 'rejected uploads', count: 20_000, send: sending('uploads') },
];
for (const part of parts) await soak({ ...part, count: part.count * scale });

await close();
await heapInUse();
assert.equal(
  getEventListeners(client.signal, 'abort').length,
  0,
  'listeners are left on the client’s signal',
);
const left = process
  .getActiveResourcesInfo()
  .filter((name) => !/^(TTYWrap|PipeWrap|FSReqCallback)$/.test(name));
assert.deepEqual(left, [], 'timers, sockets or handles are left');
console.log(`nothing is left: no timer, no socket, no listener\n\n${parts.length} passed, 0 failed`);
