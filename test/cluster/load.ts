import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Told } from './checker.js';

/** 48 of them; those equal modulo 16 are the rivals of every fourth plant. */
export const creators: readonly number[] = Array.from({ length: 48 }, (_, i) => i);

/** What an app is told when it starts. */
export interface AppSettings {
  readonly app: number;
  readonly apps: number;
  readonly seed: number;
  readonly table: string;
  /** A store for each; a creator takes any of them each time. */
  readonly urls: readonly string[];
}

/** The creators whose rivals are there, or the end. */
export type ToApp = number[] | 'stop';
export type ToLoad = { ready: number } | { told: Told[] } | { failed: string };

/** Numbers from 0 to 1 that a seed gives again (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of all choices; `SEED=… npm run test:cluster` makes them again. */
export const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));

/** Two apps with 24 creators each, which create as fast as they are answered. */
export class Load {
  readonly told: Told[] = [];
  readonly counts = { created: 0, taken: 0, unknown: 0 };
  /** Why creates failed, and how many. */
  readonly failures = new Map<string, number>();
  readonly #apps: ChildProcess[];
  readonly #ready = new Map<number, number[]>();
  readonly #watchers = new Set<() => void>();

  constructor(settings: Pick<AppSettings, 'table' | 'urls'>) {
    this.#apps = [0, 1].map((app) => {
      const all: AppSettings = { app, apps: 2, seed, ...settings };
      const child = fork(fileURLToPath(new URL('app.ts', import.meta.url)), [JSON.stringify(all)], {
        execArgv: ['--import', 'tsx'],
      });
      child.on('message', (message: ToLoad) => this.#receive(message));
      child.on('exit', () => this.#watch());
      return child;
    });
  }

  /** Resolves when so many more were told this. */
  async tells(outcome: Told['outcome'], count: number): Promise<void> {
    const goal = this.counts[outcome] + count;
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(stuck);
        this.#watchers.delete(watch);
        settle();
      };
      const fail = (what: string) => end(() => reject(new Error(`${what}: ${this.summary}`)));
      const watch = () => {
        if (this.counts[outcome] >= goal) end(resolve);
        else if (this.#apps.some(hasEnded)) fail('an app has ended');
      };
      const stuck = setTimeout(() => fail(`the creators are stuck`), 60_000);
      this.#watchers.add(watch);
    });
  }

  /** Lets every creator have its last answer. */
  async stop(): Promise<Told[]> {
    const ends = this.#apps.filter((app) => !hasEnded(app)).map((app) => once(app, 'exit'));
    this.#tell('stop');
    await Promise.all(ends);
    for (const { exitCode } of this.#apps)
      if (exitCode !== 0) throw new Error(`an app ended with ${exitCode}`);
    return this.told;
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
      for (const one of message.told) {
        this.told.push(one);
        this.counts[one.outcome]++;
      }
      this.#watch();
    } else if ('failed' in message) {
      this.failures.set(message.failed, (this.failures.get(message.failed) ?? 0) + 1);
    } else {
      const group = message.ready % 16;
      const ready = [...(this.#ready.get(group) ?? []), message.ready];
      this.#ready.set(group, ready.length === 3 ? [] : ready);
      if (ready.length === 3) this.#tell(ready);
    }
  }

  #watch(): void {
    for (const watch of this.#watchers) watch();
  }

  #tell(message: ToApp): void {
    // That an app has ended is told by its exit.
    for (const app of this.#apps) if (app.connected) app.send(message, () => {});
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
