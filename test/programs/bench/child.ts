/** One side of a pair: `node child.js <contender>`. Each message from the parent asks what this process has used. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GCProfiler } from 'node:v8';
import type { Opened, Used } from './side.js';

/** Servers under load, by name, each opened in its own process. */
export type Contenders = Record<string, () => Server | Promise<Server>>;

const name = process.argv[2]!;
// A process loads what its contender needs.
const contenders: Contenders = /^(sqlite|postgres)/.test(name)
  ? (await import('./databases.js')).databases
  : name.startsWith('step: ')
    ? (await import('./steps.js')).contenders
    : (await import('./hosts.js')).hosts;
const server = await contenders[name]!();
const tell = (message: Opened | Used) => process.send?.(message);

/** What was in the heap after the last collection, or at the last message. */
let kept = 0;
let allocated = 0;
let collections = new GCProfiler();
collections.start();

/** Bytes that V8's heap has handed out so far, from one collection to the next. */
function allocatedBytes(): number {
  const used = process.memoryUsage().heapUsed;
  for (const { beforeGC, afterGC } of collections.stop()?.statistics ?? []) {
    allocated += beforeGC.heapStatistics.usedHeapSize - kept;
    kept = afterGC.heapStatistics.usedHeapSize;
  }
  allocated += used - kept;
  kept = used;
  collections = new GCProfiler();
  collections.start();
  return allocated;
}

process.on('disconnect', () => process.exit());
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  tell({ cpu: user + system, bytes: allocatedBytes() });
});

// Nobody is hung up on while the other side has its turn.
server.keepAliveTimeout = 60_000;
if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
tell({ port: (server.address() as AddressInfo).port });
