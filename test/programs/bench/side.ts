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

/** One contender in its own process, or one of two that share a process. */
export class Side {
  private constructor(
    readonly contestant: Contestant,
    readonly process: ChildProcess,
    readonly which: number,
    readonly opened: Opened,
  ) {}

  #generator: Generator | undefined;

  static async open(contestant: Contestant): Promise<Side> {
    const [side] = await Side.#open(contestant, [contestant.name]);
    return side!;
  }

  /** Opens both in one process. */
  static openBoth(baseline: Contestant, ours: Contestant): Promise<Side[]> {
    return Side.#open(ours, [baseline.name, ours.name]);
  }

  static async #open(contestant: Contestant, names: readonly string[]): Promise<Side[]> {
    const process = start({ ...contestant, name: names.join('|') });
    const opened = await message<Opened>(process);
    const sides = names.map((name, i) => new Side({ ...contestant, name }, process, i, opened));
    for (const side of sides) await side.#connect();
    return sides;
  }

  async #connect(): Promise<void> {
    const port = this.opened.ports?.[this.which];
    if (!port) return;
    await probe(this.contestant.name, port);
    const isWrk = this.contestant.generator === 'wrk';
    this.#generator = isWrk ? new Wrk(port, connections) : await Clients.connect(port, connections);
  }

  async sample(ms: number): Promise<Sample & { readonly latencies: readonly number[] }> {
    if (this.opened.measured !== undefined) return this.#measureAgain();
    const before = await this.#tell<{ cpu: number }>('cpu');
    const done = this.#generator
      ? await this.#generator.run(ms)
      : await this.#tell<Done>({ which: this.which, ms });
    const after = await this.#tell<{ cpu: number }>('cpu');
    return {
      cost: (after.cpu - before.cpu) / done.operations,
      rate: done.operations / done.seconds,
      p50: figure(done.latencies).median,
      latencies: done.latencies,
    };
  }

  async stop(): Promise<void> {
    this.#generator?.close();
    await end(this.process);
  }

  /** A process has its start, or its heap, only once. */
  async #measureAgain() {
    const process = start(this.contestant);
    const { measured = Number.NaN } = await message<Opened>(process);
    await end(process);
    return { cost: measured, rate: Number.NaN, p50: Number.NaN, latencies: [] };
  }

  #tell<Answer>(command: Command): Promise<Answer> {
    this.process.send(command);
    return message<Answer>(this.process);
  }
}

/** What a child says when it is ready. */
export interface Opened {
  /** Of each contender, if it is a server. */
  readonly ports?: readonly (number | undefined)[];
  readonly measured?: number;
}

/** Which contender has to work for how many milliseconds, or a question. */
export type Command = { readonly which: number; readonly ms: number } | 'cpu';

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
