import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Clients, type Load } from './load.js';
import { probe } from './probe.js';

/** What a server did in a sample. */
export interface Sample {
  /** Microseconds of CPU time of its process for a request. */
  readonly cost: number;
  /** Requests a second. */
  readonly rate: number;
  /** Bytes that V8's heap has handed out for a request. Buffers are not among them. */
  readonly bytes: number;
}

/** What runs on one side of a pair. */
export interface Contestant {
  /** The Node that runs it. */
  readonly node: string;
  /** The built program, as `buildChild` makes it. */
  readonly child: string;
  /** The contender, as `hosts.ts` or `databases.ts` knows it. */
  readonly name: string;
}

/** What a child says when it is ready: the port of its server. */
export interface Opened {
  readonly port: number;
}

/** What a child has used so far: microseconds of CPU time, and bytes of V8's heap. */
export interface Used {
  readonly cpu: number;
  readonly bytes: number;
}

/** One contender in its own process. */
export class Side {
  private constructor(
    readonly process: ChildProcess,
    readonly clients: Clients,
  ) {}

  static async open({ node, child, name }: Contestant, load: Load): Promise<Side> {
    const process = spawn(node, [child, name], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const { port } = await message<Opened>(process);
    await probe(name, port);
    return new Side(process, await Clients.connect(port, load));
  }

  async sample(ms: number): Promise<Sample> {
    const before = await this.#used();
    const { operations, seconds } = await this.clients.run(ms);
    const { cpu, bytes } = await this.#used();
    return {
      cost: (cpu - before.cpu) / operations,
      rate: operations / seconds,
      bytes: (bytes - before.bytes) / operations,
    };
  }

  async stop(): Promise<void> {
    this.clients.close();
    const { process } = this;
    if (process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    process.disconnect();
    await ended;
  }

  async #used(): Promise<Used> {
    this.process.send('');
    return message<Used>(this.process);
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
