import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Clients } from './load.js';
import { probe } from './probe.js';

/** How long a duel is. */
export interface Effort {
  /** How many fresh processes each side gets: what V8 makes of a program differs from one to the next by some percent. */
  readonly bouts: number;
  /** Samples of each side in a bout. */
  readonly pairs: number;
  readonly sampleMs: number;
  readonly warmUpMs: number;
}

/**
 * What a contender is held to: `cost`, in microseconds of its process's CPU time for an operation or in what else is
 * measured; `rate`, operations a second; `p50`, the median time that an operation takes, in microseconds.
 */
export type By = 'cost' | 'rate' | 'p50';
type Sample = Readonly<Record<By, number>>;

/** A median, with the least and the most beside it. */
export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}
export type Figures = Readonly<Record<By, Figure>>;

export interface Duel {
  readonly floor: Figures;
  readonly target: Figures;
  /** How much better the target is, pair by pair: 2 is half the CPU time, twice the rate, half the latency. */
  readonly times: Figures;
}

/**
 * Lets two contenders take turns in short samples, in fresh processes: on a machine that others use as well, only what
 * is measured side by side can be compared.
 */
export async function duel(child: string, floor: string, target: string, effort: Effort): Promise<Duel> {
  const floors: Sample[] = [];
  const targets: Sample[] = [];
  for (let i = 0; i < effort.bouts; i++) {
    const sides: Side[] = [];
    try {
      for (const name of [floor, target]) sides.push(await Side.open(child, name));
      for (const side of sides) await side.sample(effort.warmUpMs);
      for (let pair = 0; pair < effort.pairs; pair++) {
        // Who goes first changes, for whatever favours the first.
        for (const which of pair % 2 ? [1, 0] : [0, 1]) {
          (which ? targets : floors).push(await sides[which]!.sample(effort.sampleMs));
        }
      }
    } finally {
      for (const side of sides) await side.stop();
    }
  }
  const times = floors.map(({ cost, rate, p50 }, i) => {
    const target = targets[i]!;
    return { cost: cost / target.cost, rate: target.rate / rate, p50: p50 / target.p50 };
  });
  return { floor: figures(floors), target: figures(targets), times: figures(times) };
}

function figures(samples: readonly Sample[]): Figures {
  const of = (by: By) => figure(samples.map((sample) => sample[by]));
  return { cost: of('cost'), rate: of('rate'), p50: of('p50') };
}

export function figure(values: readonly number[]): Figure {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}

/** One contender in a process of its own. */
class Side {
  private constructor(
    readonly name: string,
    readonly process: ChildProcess,
    readonly opened: Opened,
    /** Who puts load on it, where it is a server. */
    readonly clients: Clients | undefined,
  ) {}

  static async open(child: string, name: string): Promise<Side> {
    const forked = fork(child, [name], { execArgv: ['--expose-gc'] });
    const opened = await message<Opened>(forked);
    if (opened.port) await probe(name, opened.port);
    const clients = opened.port ? await Clients.connect(opened.port, 64) : undefined;
    return new Side(name, forked, opened, clients);
  }

  async sample(ms: number): Promise<Sample> {
    if (this.opened.measured !== undefined) return this.#measureAgain();
    const before = await this.#tell<{ cpu: number }>('cpu');
    const done = this.clients ? await this.clients.run(ms) : await this.#tell<Done>(ms);
    const after = await this.#tell<{ cpu: number }>('cpu');
    return {
      cost: (after.cpu - before.cpu) / done.operations,
      rate: done.operations / done.seconds,
      p50: figure(done.latencies).median,
    };
  }

  async stop(): Promise<void> {
    this.clients?.close();
    if (!this.process.connected) return;
    this.process.disconnect();
    await once(this.process, 'exit');
  }

  /** A process has its start, or its heap, only once. */
  async #measureAgain(): Promise<Sample> {
    const forked = fork(this.process.spawnargs[2]!, [this.name], { execArgv: ['--expose-gc'] });
    const { measured = Number.NaN } = await message<Opened>(forked);
    forked.disconnect();
    await once(forked, 'exit');
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
export interface Done {
  readonly operations: number;
  readonly seconds: number;
  readonly latencies: readonly number[];
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
