import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Done, Sample } from './contender.js';
import { Clients } from './load.js';
import { probe } from './probe.js';

/** What runs on one side of a pair. */
export interface Contestant {
  /** The built program, as `buildChild` makes it. */
  readonly child: string;
  /** The contender, as `contenders.ts` knows it. */
  readonly name: string;
  /** How many clients send requests to it, if it is a server: each the next one after its response. */
  readonly connections: number;
}

/** What a child says when it is ready: the port of its server, if it is one. */
export interface Opened {
  readonly port: number | undefined;
}

/** For how many milliseconds a child has to work, or a question. */
export type Command = number | 'cpu';

/** One contender in its own process. */
export class Side {
  private constructor(
    readonly process: ChildProcess,
    readonly clients: Clients | undefined,
  ) {}

  static async open({ child, name, connections }: Contestant): Promise<Side> {
    const process = spawn(globalThis.process.execPath, [child, name], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const { port } = await message<Opened>(process);
    if (!port) return new Side(process, undefined);
    await probe(name, port);
    return new Side(process, await Clients.connect(port, connections));
  }

  async sample(ms: number): Promise<Sample> {
    const before = await this.#tell<{ cpu: number }>('cpu');
    const done = this.clients ? await this.clients.run(ms) : await this.#tell<Done>(ms);
    const after = await this.#tell<{ cpu: number }>('cpu');
    return { cost: (after.cpu - before.cpu) / done.operations, rate: done.operations / done.seconds };
  }

  async stop(): Promise<void> {
    this.clients?.close();
    const { process } = this;
    if (process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    process.disconnect();
    await ended;
  }

  #tell<Answer>(command: Command): Promise<Answer> {
    this.process.send(command);
    return message<Answer>(this.process);
  }
}

/** The next message of a child, which may end instead of sending one. */
function message<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${child.spawnargs.at(-1)} ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (answer) => {
      child.off('exit', onExit);
      resolve(answer as Answer);
    });
  });
}
