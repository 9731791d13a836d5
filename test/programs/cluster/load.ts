import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleOf } from '../../support/bundle.js';
import { seed } from '../../support/random.js';
import { type Attempt, type History, type Holdings, violationsIn } from './checker.js';
import type { Machine } from './network.js';

/** An attempt to create a plant, with the number of its response. */
export interface Answer extends Attempt {
  /** 200, or the number of the error; 0 if there was no response. */
  readonly number: number;
}

/** The settings of an app, passed when it starts. */
export interface AppSettings {
  readonly app: number;
  readonly apps: number;
  readonly seed: number;
  readonly creators: number;
  /** How many creators race for every fourth plant; 0 is none. */
  readonly rivals: number;
  readonly table: string;
  /** A store for each; a creator picks one of them each time. */
  readonly urls: readonly string[];
  /** The storages' `timeoutMs`, with pools to match; without it everything is as it comes. */
  readonly timeoutMs?: number;
  /** Options of the pools, beside the URL. */
  readonly pool?: object;
  /** How many characters the name of a plant has. Default: as few as tell it from others. */
  readonly nameLength?: number;
  /** How long a creator pauses after each response, on average. Default: no pause. */
  readonly pauseMs?: number;
  /**
   * One creator of each race is a client of `plant-store/client`, which retries until its plant is stored or its id is another
   * plant's, on a server with or without `acceptReplays`.
   */
  readonly retrying?: 'with acceptReplays' | 'without acceptReplays';
}

/** Who race for an id: those of one group, which are equal modulo the number of groups. */
export function groupOf(
  creator: number,
  { creators, rivals }: Pick<AppSettings, 'creators' | 'rivals'>,
): number {
  return creator % (creators / rivals);
}

/** Whether a creator retries: the last one of each group. */
export function retries(
  creator: number,
  { creators, rivals, retrying }: Pick<AppSettings, 'creators' | 'rivals' | 'retrying'>,
): boolean {
  return retrying !== undefined && creator >= creators - creators / rivals;
}

/** The creators whose rivals are there, or the end. */
export type ToApp = number[] | 'stop';
export type ToLoad = { ready: number } | { told: Answer[]; memory: number } | { failed: string };

/** What differs between loads. */
type LoadSettings = Pick<
  AppSettings,
  'table' | 'urls' | 'timeoutMs' | 'pool' | 'nameLength' | 'pauseMs' | 'retrying'
> &
  Partial<Pick<AppSettings, 'apps' | 'creators' | 'rivals'>>;

/** Two apps with 24 creators each, unless set otherwise. */
export class Load {
  readonly told: Answer[] = [];
  readonly counts = { created: 0, taken: 0, refused: 0, unknown: 0, unsettled: 0 };
  /** The most memory that an app used, in bytes. */
  memory = 0;
  /** Why creates failed, and how many. */
  readonly failures = new Map<string, number>();
  readonly #apps: ChildProcess[];
  readonly #all: Omit<AppSettings, 'app'>;
  readonly #ready = new Map<number, number[]>();

  /** @param machine where the apps run; by default, where the test does */
  constructor(settings: LoadSettings, machine?: Machine) {
    this.#all = { apps: 2, creators: 48, rivals: 3, seed, ...settings };
    this.#apps = Array.from({ length: this.#all.apps }, (_, app) => {
      const all: AppSettings = { app, ...this.#all };
      const [execPath, ...prefix] = machine ? machine.enter(process.execPath) : [process.execPath];
      const program = bundleOf('test/programs/cluster/app.ts');
      const child = fork(program, [JSON.stringify(all)], { execPath, execArgv: prefix });
      child.on('message', (message: ToLoad) => this.#receive(message));
      return child;
    });
  }

  /** Resolves when so many more creates have one of these outcomes. */
  async tells(outcome: Attempt['outcome'] | 'failed', count: number): Promise<void> {
    const { counts } = this;
    const told = () => (outcome === 'failed' ? counts.refused + counts.unknown : counts[outcome]);
    const goal = told() + count;
    const stuck = AbortSignal.timeout(60_000);
    while (told() < goal) {
      if (stuck.aborted) throw new Error(`the creators are stuck: ${this.summary}`);
      if (this.#apps.some(hasEnded)) throw new Error(`an app has ended: ${this.summary}`);
      await sleep(5);
    }
  }

  /** Stops the creators, and waits for their last responses. */
  async stop(): Promise<Answer[]> {
    const ends = this.#apps.filter((app) => !hasEnded(app)).map((app) => once(app, 'exit'));
    this.#tell('stop');
    await Promise.all(ends);
    for (const { exitCode } of this.#apps)
      if (exitCode !== 0) throw new Error(`an app ended with ${exitCode}`);
    return this.told;
  }

  /** Stops the creators, and returns where these servers contradict the outcomes that they got. */
  async violations(
    plants: () => Promise<readonly Holdings[]>,
    expected: Pick<History, 'limits' | 'recovery'> = {},
  ): Promise<string[]> {
    const attempts = await this.stop();
    console.log(this.summary);
    const found = violationsIn({ attempts, machines: await plants(), ...expected });
    // Without the dots that fill a name.
    return found.map(({ kind, text }) => `${kind}: ${text}`.replace(/\.{4,}/g, '…'));
  }

  kill(): void {
    for (const app of this.#apps) app.kill('SIGKILL');
  }

  get summary(): string {
    const outcomes = Object.entries(this.counts).map(([outcome, count]) => `${count} ${outcome}`);
    const failures = [...this.failures].map(([what, count]) => `${count} x ${what}`);
    return [`seed ${seed}`, ...outcomes, ...failures].join('; ');
  }

  #receive(message: ToLoad): void {
    if ('told' in message) {
      this.memory = Math.max(this.memory, message.memory);
      for (const one of message.told) {
        this.told.push(one);
        this.counts[one.outcome]++;
      }
    } else if ('failed' in message) {
      this.failures.set(message.failed, (this.failures.get(message.failed) ?? 0) + 1);
    } else {
      const group = groupOf(message.ready, this.#all);
      const ready = [...(this.#ready.get(group) ?? []), message.ready];
      this.#ready.set(group, ready.length === this.#all.rivals ? [] : ready);
      if (ready.length === this.#all.rivals) this.#tell(ready);
    }
  }

  #tell(message: ToApp): void {
    // The exit of an app says that it has ended.
    for (const app of this.#apps) if (app.connected) app.send(message, () => {});
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
