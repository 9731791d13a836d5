/** One side of a pair: `node child.js <contender>`; messages from the parent say what to do. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Contenders, Done, Work } from './contender.js';
import type { Command, Opened } from './side.js';

const name = process.argv[2]!;
// A process loads what its contender needs.
const contenders: Contenders = /^(sqlite|postgres)/.test(name)
  ? (await import('./databases.js')).databases
  : (await import('./hosts.js')).hosts;
const contender = await contenders[name]!();
const tell = (message: Opened | Done | { cpu: number }) => process.send?.(message);

process.on('disconnect', () => process.exit());
process.on('message', async (command: Command) => {
  const { user, system } = process.cpuUsage();
  if (command === 'cpu') tell({ cpu: user + system });
  else tell(await work(contender as Work, command));
});

if ('run' in contender) tell({ port: undefined });
else {
  // Nobody is hung up on while the other side has its turn.
  contender.keepAliveTimeout = 60_000;
  if (!contender.listening) await once(contender.listen(0, '127.0.0.1'), 'listening');
  tell({ port: (contender.address() as AddressInfo).port });
}

async function work({ operations, prepare, run }: Work, ms: number): Promise<Done> {
  let done = 0;
  let seconds = 0;
  while (seconds * 1000 < ms) {
    prepare();
    const start = performance.now();
    await run();
    seconds += (performance.now() - start) / 1000;
    done += operations;
  }
  return { operations: done, seconds };
}
