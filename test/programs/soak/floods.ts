// `npm run test:soak`: floods on the demo server, which runs as `npm start` starts it. During each of them a good
// client is served; after it the server holds no more sockets and no more memory than before.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Creators } from '../../support/creators.js';
import { portOf, startProgram } from '../../support/program.js';
import type { Flood, Flooded } from './flooders.js';

/** Longer than the 12 s after which the server closes a connection whose request does not begin or end. */
const seconds = 20;
const bound = { longestMs: 2_000, heapBytes: 4 * 2 ** 20, backMs: 20_000 };

/** Lets us ask the server for its heap after a collection. */
const probe = `data:text/javascript,process.on('SIGUSR2', () => {
  gc();
  console.log('heap ' + process.memoryUsage().heapUsed);
});`;
const server = startProgram(
  [process.execPath, '--expose-gc', '--import', probe, 'examples/server/start.js'],
  {
    DATABASE_URL: 'memory:',
  },
);
const port = await portOf(server);
let nextId = 1;

async function heapInUse(): Promise<number> {
  server.child.kill('SIGUSR2');
  const [text] = await once(server.child.stdout!, 'data');
  return Number(/heap (\d+)/.exec(String(text))?.[1]);
}

function socketsOfServer(): number {
  const folder = `/proc/${server.child.pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(`${folder}/${name}`).startsWith('socket:');
    } catch {
      return false; // It was closed meanwhile.
    }
  }).length;
}

/** Creates plants, half of them over new connections, and returns the time of each in milliseconds. */
async function createWhile(isFlooded: () => boolean): Promise<number[]> {
  const kept = new Creators(port);
  const times: number[] = [];
  while (isFlooded()) {
    const creators = nextId % 2 ? kept : new Creators(port);
    const started = performance.now();
    const { status, body } = await creators.create(nextId++);
    assert.equal(status, 200, `a client during the flood got ${status} ${body}`);
    times.push(performance.now() - started);
    if (creators !== kept) await creators.stop();
    await sleep(10);
  }
  await kept.stop();
  return times.sort((a, b) => a - b);
}

async function flood(name: string, job: Omit<Flood, 'port'>): Promise<Flooded> {
  const before = { sockets: socketsOfServer(), heap: await heapInUse() };
  const flooders = fork(new URL('flooders.ts', import.meta.url), [JSON.stringify({ ...job, port })]);
  const until = performance.now() + seconds * 1000;
  const times = await createWhile(() => performance.now() < until);
  const atWorst = socketsOfServer();
  flooders.send('stop');
  const [flooded] = (await once(flooders, 'message')) as [Flooded];
  await once(flooders, 'exit');

  const ended = performance.now();
  const isBack = () => socketsOfServer() <= before.sockets && heap - before.heap < bound.heapBytes;
  let heap = await heapInUse();
  while (!isBack() && performance.now() - ended < bound.backMs) {
    await sleep(50);
    heap = await heapInUse();
  }
  const back = ((performance.now() - ended) / 1000).toFixed(1);
  const [half, most] = [0.5, 0.99].map((share) => times[Math.floor(share * times.length)]!.toFixed(1));
  const longest = times.at(-1)!;
  console.log(
    `${name}: ${flooded.opened} connections, ${flooded.closed} closed by the server, answers ${JSON.stringify(flooded.answers)}
  a good client: ${times.length} creates, p50 ${half} ms, p99 ${most} ms, longest ${longest.toFixed(1)} ms
  the server: ${atWorst} sockets at the end, ${socketsOfServer()} after ${back} s, heap ${mebibytes(before.heap)} MiB before, ${mebibytes(heap)} MiB then`,
  );
  assert.ok(longest < bound.longestMs, `${name}: a good client waited for ${longest} ms`);
  assert.ok(socketsOfServer() <= before.sockets, `${name}: sockets are left`);
  assert.ok(isBack(), `${name}: the heap grew from ${before.heap} to ${heap} bytes`);
  return flooded;
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

try {
  const good = 'Bearer for-evaluation-only';
  const wrong = 'Bearer of-somebody-else';
  const slow = await flood('500 slow heads', { kind: 'slow heads', connections: 500 });
  assert.ok(slow.closed >= 500, 'a head that does not end was not cut off');
  const idle = await flood('5 000 idle connections', { kind: 'idle connections', connections: 5000 });
  assert.ok(idle.closed >= 5000, 'an idle connection was not closed');
  await flood('500 stalled uploads', { kind: 'stalled uploads', connections: 500, authorization: good });
  await flood('uploads with a token', { kind: 'uploads', connections: 64, authorization: good });
  await flood('uploads without a token', { kind: 'uploads', connections: 64 });
  await flood('wrong tokens', { kind: 'wrong tokens', connections: 64, authorization: wrong });
  console.log('\n6 passed, 0 failed');
} finally {
  server.child.kill('SIGKILL');
}
