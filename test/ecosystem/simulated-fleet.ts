/** Instances of an app on a simulated clock, and what a Prometheus that scrapes them each five seconds would have seen. */
import type { CreateMany, VerifyToken } from 'plant-store';
import { SimulatedTimers } from '../support/timers.js';

const timers = new SimulatedTimers();
timers.install();
const { bundleOf } = await import('../support/bundle.js');
const { ecosystemFolder } = await import('../support/installed.js');

/** What simulated-app.ts exports. */
export interface App {
  readonly world: { createMany: CreateMany<unknown>; verify: VerifyToken<true> };
  readonly pool: { totalCount: number; idleCount: number; waitingCount: number };
  create(id: number): Promise<number>;
  scrape(): Promise<ReadonlyMap<string, number>>;
}

export const scrapeMs = 5_000;
let copies = 0;

/** One that is deployed: a new version is another one. */
export interface Instance {
  readonly name: string;
  readonly app: App;
  isGone: boolean;
}

export class Fleet {
  readonly clock = timers.reset();
  instances: readonly Instance[] = [];
  /** When each plant was stored, and when each create has failed: milliseconds. */
  readonly stored: number[] = [];
  readonly failed: number[] = [];
  readonly #series = new Map<string, string[]>();
  #scrapes = 0;
  #ids = 0;

  async deploy(name: string): Promise<Instance> {
    const file = bundleOf('test/ecosystem/simulated-app.ts', ecosystemFolder());
    const instance = { name, app: (await import(`${file}?copy=${++copies}`)) as App, isGone: false };
    this.instances = [...this.instances.filter((other) => other.name !== name), instance];
    return instance;
  }

  /** Ends one: scrapes find nobody there until another one has its name. */
  retire(instance: Instance): void {
    instance.isGone = true;
  }

  /** Sends a create to an instance, of a new id or of this one. */
  create({ app }: Instance, id = ++this.#ids): void {
    void app.create(id).then((code) => {
      if (code === 0) this.stored.push(this.clock.now());
      else if (code >= 50_000) this.failed.push(this.clock.now());
    });
  }

  /** Lets time pass until then, with a scrape each five seconds. */
  async until(ms: number): Promise<void> {
    while (this.#scrapes * scrapeMs <= ms) {
      await this.clock.advance(this.#scrapes * scrapeMs - this.clock.now());
      await this.#scrape();
    }
    await this.clock.advance(ms - this.clock.now());
  }

  async #scrape(): Promise<void> {
    for (const { name, app, isGone } of this.instances) {
      this.#add(`up{job="plants",instance="${name}"`, isGone ? 0 : 1);
      if (isGone) continue;
      for (const [series, value] of await app.scrape())
        this.#add(series.replace('{', `{job="plants",instance="${name}"`), value);
    }
    this.#scrapes++;
  }

  #add(series: string, value: number): void {
    const values = this.#series.get(series) ?? [];
    this.#series.set(series, values);
    // As Prometheus marks a series that a scrape no longer has.
    while (values.length < this.#scrapes) values.push(/^\d/.test(values.at(-1) ?? '_') ? 'stale' : '_');
    // promtool takes no infinity: long before the test began.
    values.push(String(Math.min(Math.round(value * 1_000) / 1_000, 1e9)));
  }

  /** As promtool takes them. */
  get series(): string[] {
    return [...this.#series].map(
      ([name, values]) => `{ series: '${name}}', values: '${shortened(values)}' }`,
    );
  }
}

/** Values in the notation of promtool, in which those that are equal are written once. A series that ends is no longer scraped. */
function shortened(values: readonly string[]): string {
  const runs: { value: string; count: number }[] = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last?.value === value) last.count++;
    else runs.push({ value, count: 1 });
  }
  const texts = runs.map(({ value, count }) => {
    if (count === 1) return value;
    return value === '_' ? `_x${count}` : `${value}x${count - 1}`;
  });
  return [...texts, 'stale'].join(' ');
}
