/** One side of a pair, or both as `<contender>|<contender>`: `node child.js <contender>`; messages from the parent say what to do. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Contender, Work } from './contender.js';
import { openContender } from './contenders.js';
import type { Done } from './generator.js';
import type { Command, Opened } from './side.js';

const contenders: Contender[] = [];
for (const name of (process.argv[2] ?? '').split('|')) contenders.push(await openContender(name));
const tell = (message: Opened | Done | { cpu: number }) => process.send?.(message);

process.on('disconnect', () => process.exit());
process.on('message', async (command: Command) => {
  if (command === 'cpu') tell({ cpu: cpu() });
  else tell(await work(contenders[command.which] as Work, command.ms));
});

const [first] = contenders;
if (first && 'measured' in first) tell(first);
else tell({ ports: await Promise.all(contenders.map(portOf)) });

/** The port of a server; nothing for work in the process itself. */
async function portOf(contender: Contender): Promise<number | undefined> {
  if ('run' in contender || 'measured' in contender) return undefined;
  if ('port' in contender) return contender.port;
  // Nobody is hung up on while the other side has its turn.
  contender.keepAliveTimeout = 60_000;
  if (!contender.listening) await once(contender.listen(0, '127.0.0.1'), 'listening');
  return (contender.address() as AddressInfo).port;
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
