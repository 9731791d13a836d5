// `npm run test:soak`: 2 000 creates a second, offered to a storage that stops answering for 20 seconds. Memory stays
// bounded, creates beyond the bound are refused at once, no refused plant is stored, and a second later all is well.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { acceptTokens, createPlantStore, groupCommit, type NewPlant } from 'plant-store';
import { toNode } from 'plant-store/node';
import { listen } from '../../support/sockets.js';
import type { Offer, OfferedAnswers } from './offer.js';

const perSecond = 2000;
const seconds = { before: 2, stalled: 20, after: 4 };

const stored = new Set<bigint>();
let stalled: Promise<void> | undefined;
const createMany = async (plants: readonly NewPlant[]) => {
  await stalled;
  return plants.map(({ id }) => {
    stored.add(id);
    return 'created' as const;
  });
};
// Half of the default, because each create that is held has a socket on both sides.
const storage = groupCommit(createMany, { maxQueued: 5000 });
const handle = createPlantStore(storage, acceptTokens('secret'), { onError() {} });
const server = await listen(createServer({ keepAliveTimeout: 60_000 }, toNode(handle)));

let mostMemory = 0;
const watch = setInterval(() => {
  mostMemory = Math.max(mostMemory, process.memoryUsage().rss);
}, 100);

const offer: Offer = {
  port: server.port,
  perSecond,
  seconds: seconds.before + seconds.stalled + seconds.after,
};
const clients = fork(new URL('offer.ts', import.meta.url), [JSON.stringify(offer)]);
await once(clients, 'message');
const started = performance.now();
const memoryBefore = process.memoryUsage().rss;

await new Promise((resolve) => setTimeout(resolve, seconds.before * 1000));
let release: () => void = () => {};
stalled = new Promise((resolve) => {
  release = resolve;
});
await new Promise((resolve) => setTimeout(resolve, seconds.stalled * 1000));
release();
stalled = undefined;
const returned = performance.now() - started;

const [answers] = (await once(clients, 'message')) as [OfferedAnswers];
await once(clients, 'exit');
clearInterval(watch);
await server.close();

const byNumber = new Map<number, number>();
for (const { error } of answers) byNumber.set(error, (byNumber.get(error) ?? 0) + 1);
const refused = answers.filter(({ error }) => error === 50301);
const late = answers.filter(({ sentAt }) => sentAt > returned + 1000);
const firstAfter = Math.min(
  ...answers.filter((a) => a.error === 0 && a.sentAt > returned).map((a) => a.sentAt + a.ms),
);
const waits = refused.map(({ ms }) => ms).sort((a, b) => a - b);
const median = waits[waits.length >> 1] ?? 0;

console.log(
  `offered ${perSecond} a second for ${offer.seconds} s, of which the storage was away for ${seconds.stalled} s`,
);
console.log(`answers by number (0 is a 200): ${JSON.stringify(Object.fromEntries(byNumber))}`);
console.log(`memory: ${mebibytes(memoryBefore)} MiB before, ${mebibytes(mostMemory)} MiB at most`);
console.log(
  `half of the 503 came within ${median.toFixed(0)} ms; the first 200 came ${(firstAfter - returned).toFixed(0)} ms after the storage was back`,
);

assert.deepEqual(
  refused.filter(({ id }) => stored.has(BigInt(id))),
  [],
  'a plant was stored that was refused as busy',
);
assert.ok(refused.length > perSecond * (seconds.stalled - 12), 'creates beyond the bound were not refused');
assert.ok(median < 100, 'creates beyond the bound were not refused at once');
assert.ok(mostMemory - memoryBefore < 400 * 2 ** 20, 'memory is not bounded');
assert.ok(firstAfter - returned < 1000, 'the first 200 came later than a second after the storage was back');
assert.deepEqual(
  late.filter(({ error }) => error !== 0),
  [],
  'not all is well a second after the storage was back',
);
console.log('\n1 passed, 0 failed');

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
