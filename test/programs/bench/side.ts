import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { figure, type Sample } from './figures.js';
import type { Done, Generator, GeneratorName } from './generator.js';
import { Clients } from './load.js';
import { probe } from './probe.js';
import { commands, type Runtime } from './runtimes.js';
import { serverCore, Wrk } from './wrk.js';

const connections = 64;

/** What runs on one side of a pair. */
export interface Contestant {
  /** The built program, as `buildChild` makes it. */
  readonly child: string;
  /** The contender, as `contenders.ts` knows it. */
  readonly name: string;
  readonly runtime?: Runtime | undefined;
  /** Who puts load on a server. Default: `own`. */
  readonly generator?: GeneratorName | undefined;
}

/** One contender in its own process. */
export class Side {
  private constructor(
    readonly contestant: Contestant,
    readonly process: ChildProcess,
    readonly opened: Opened,
    readonly generator: Generator | undefined,
  ) {}

  static async open(contestant: Contestant): Promise<Side> {
    const process = start(contestant);
    const opened = await message<Opened>(process);
    const { port } = opened;
    if (!port) return new Side(contestant, process, opened, undefined);
    await probe(contestant.name, port);
    const isWrk = contestant.generator === 'wrk';
    const generator = isWrk ? new Wrk(port, connections) : await Clients.connect(port, connections);
    return new Side(contestant, process, opened, generator);
  }

  async sample(ms: number): Promise<Sample> {
    if (this.opened.measured !== undefined) return this.#measureAgain();
    const before = await this.#tell<{ cpu: number }>('cpu');
    const done = this.generator ? await this.generator.run(ms) : await this.#tell<Done>(ms);
    const after = await this.#tell<{ cpu: number }>('cpu');
    return {
      cost: (after.cpu - before.cpu) / done.operations,
      rate: done.operations / done.seconds,
      p50: figure(done.latencies).median,
    };
  }

  async stop(): Promise<void> {
    this.generator?.close();
    await end(this.process);
  }

  /** A process has its start, or its heap, only once. */
  async #measureAgain(): Promise<Sample> {
    const process = start(this.contestant);
    const { measured = Number.NaN } = await message<Opened>(process);
    await end(process);
    return { cost: measured, rate: Number.NaN, p50: Number.NaN };
  }

  #tell<Answer>(command: Command): Promise<Answer> {
    this.process.send(command);
    return message<Answer>(this.process);
  }
}

/** What a child says when it is ready. */
export interface Opened {
  readonly port?: number;
  readonly measured?: number;
}

/** Milliseconds to work for, or a question. */
export type Command = number | 'cpu';

function start({ child, name, runtime = 'node', generator }: Contestant): ChildProcess {
  const pinned = generator === 'wrk' ? serverCore : [];
  const [command, ...args] = [...pinned, ...commands[runtime], child, name];
  return spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  await ended;
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
