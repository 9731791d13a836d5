/** One side of a pair, in a process of its own: `node child.js <contender>`; messages from the parent say what to do. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Work } from './contender.js';
import { openContender } from './contenders.js';
import type { Done } from './generator.js';
import type { Command, Opened } from './side.js';

const contender = await openContender(process.argv[2] ?? '');
const tell = (message: Opened | Done | { cpu: number }) => process.send?.(message);

process.on('disconnect', () => process.exit());
process.on('message', async (command: Command) => {
  if (typeof command === 'number') tell(await work(contender as Work, command));
  else tell({ cpu: cpu() });
});

if ('run' in contender) {
  tell({});
} else if ('measured' in contender || 'port' in contender) {
  tell(contender);
} else {
  // Nobody is hung up on while the other side has its turn.
  contender.keepAliveTimeout = 60_000;
  if (!contender.listening) await once(contender.listen(0, '127.0.0.1'), 'listening');
  tell({ port: (contender.address() as AddressInfo).port });
}

/** Microseconds of CPU time so far. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function work({ operations, prepare, run, latencies = [] }: Work, ms: number): Promise<Done> {
  let done = 0;
  let seconds = 0;
  while (seconds * 1000 < ms) {
    prepare?.();
    const start = performance.now();
    const running = run();
    if (running) await running;
    seconds += (performance.now() - start) / 1000;
    done += operations;
  }
  return { operations: done, seconds, latencies: latencies.splice(0) };
}
