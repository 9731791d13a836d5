/** One side of a pair: `node child.js <contender>`. Each message from the parent asks for the CPU time of this process. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Opened, Used } from './side.js';

/** Servers under load, by name, each opened in its own process. */
export type Contenders = Record<string, () => Server | Promise<Server>>;

const name = process.argv[2]!;
// A process loads what its contender needs.
const contenders: Contenders = /^(sqlite|postgres)/.test(name)
  ? (await import('./databases.js')).databases
  : (await import('./hosts.js')).hosts;
const server = await contenders[name]!();
const tell = (message: Opened | Used) => process.send?.(message);

process.on('disconnect', () => process.exit());
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  tell({ cpu: user + system });
});

// Nobody is hung up on while the other side has its turn.
server.keepAliveTimeout = 60_000;
if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
tell({ port: (server.address() as AddressInfo).port });
