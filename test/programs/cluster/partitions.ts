import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { Holdings } from './checker.js';
import { type Answer, Load } from './load.js';
import type { Machine, Network } from './network.js';

/** A cluster whose network can fail. */
export interface Cluster {
  readonly network: Network;
  /** What an app is given. */
  readonly url: string;
  /** Resolves when all machines work together again. */
  healthy(): Promise<void>;
  /** Runs a statement as any client of the cluster would, on a connection of its own. */
  query(sql: string): Promise<unknown>;
  /** Creates a table of another name each time; resolves with its name. */
  newTable(): Promise<string>;
  holdings(table: string): Promise<readonly Holdings[]>;
  close(): Promise<void>;
}

/** How long most faults last. */
export const faultMs = 30_000;

/** The defaults of a storage and of a store, and three seconds for cores on which other tests run, too. */
const limits = { once: 10_000 + 3_000, retried: 30_000 + 3_000 };

/** The first 200 comes this soon after a fault, or after a plain client can insert again, which may take a cluster longer. */
const recoveryMs = 20_000;

/** What a run measured, as a row of a table; the page has a part of it. */
export class Findings {
  readonly #rows: string[] = [];
  readonly #drawings: string[] = [];

  add(fault: string, run: Run, violations: number): void {
    const { answers, struck, healed } = run;
    const codes = new Map<number, number>();
    for (const { number } of answers) codes.set(number, (codes.get(number) ?? 0) + 1);
    const byCode = [...codes].sort(([a], [b]) => a - b).map(([code, count]) => `${count} × ${code}`);
    const slowest = Math.max(...answers.filter(({ isRetried }) => !isRetried).map(({ took }) => took));
    const cells = [
      fault,
      seconds(longestWithout200(run)),
      seconds(firstAfter(healed, answers) - healed),
      byCode.join(', '),
      seconds(slowest),
      violations,
    ];
    this.#rows.push(`| ${cells.join(' | ')} |`);
    this.#drawings.push(`${fault}\n${drawingOf(answers, struck, healed)}`);
  }

  print(): void {
    const head =
      '| fault | longest time without a 200, s | first 200 after it, s | responses by code | slowest, s | violations |\n|---|---|---|---|---|---|';
    console.log([head, ...this.#rows, '', ...this.#drawings].join('\n'));
  }
}

/** What the creators were told, when the fault began, and when it ended. */
interface Run {
  readonly answers: readonly Answer[];
  readonly struck: number;
  readonly healed: number;
}

/** What a fault is tried on. */
interface Trial {
  readonly cluster: Cluster;
  readonly table: string;
  readonly findings: Findings;
  /** How long after the fault the first 200 may come. */
  readonly withinMs?: number;
  /** Options of the apps' pools. Default: everything as it comes. */
  readonly pool?: object | undefined;
}

/**
 * Lets the network fail while 48 creators are at work, sixteen of them clients that retry, and heals it.
 *
 * @param fail resolves when the fault is over
 */
export async function survive(
  { cluster, table, findings, withinMs = recoveryMs, pool }: Trial,
  fault: string,
  fail: () => Promise<void>,
): Promise<void> {
  const { app } = cluster.network;
  const urls = [cluster.url, cluster.url];
  // Names so long that a batch takes more than one packet, or no rule of sizes would meet it.
  const creators = { pauseMs: 200, nameLength: 400, retrying: 'with acceptReplays' as const };
  const plain = new PlainClient(cluster, await cluster.newTable());
  const load = new Load({ table, urls, ...creators, ...(pool && { pool }) }, app);
  try {
    await load.tells('created', 300);
    const struck = Date.now();
    await fail();
    cluster.network.heal();
    const healed = Date.now();
    plain.start();
    await load.tells('created', 300);
    const recovery = { from: Math.max(healed, await plain.stop()), withinMs };
    const violations = await load.violations(() => cluster.holdings(table), { limits, recovery });
    findings.add(fault, { answers: load.told, struck, healed }, violations.length);
    expect(violations.slice(0, 20)).toEqual([]);
  } finally {
    cluster.network.heal();
    load.kill();
  }
}

/**
 * Inserts row after row without plant-store. While it cannot, a cluster appoints a primary, sends a node what it has missed, or stands
 * still with its machine: that is not plant-store's time.
 */
class PlainClient {
  #lastFailureAt = 0;
  #inserting: Promise<void> | undefined;
  #isStopped = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly table: string,
  ) {}

  start(): void {
    this.#inserting = this.#insert();
  }

  /** Resolves with when it last failed, in milliseconds since 1970; 0 if it never did. */
  async stop(): Promise<number> {
    this.#isStopped = true;
    await this.#inserting;
    return this.#lastFailureAt;
  }

  async #insert(): Promise<void> {
    for (let id = 1; !this.#isStopped; id++) {
      try {
        await this.cluster.query(`INSERT INTO ${this.table} (id, name) VALUES (${id}, 'plain')`);
      } catch {
        this.#lastFailureAt = Date.now();
      }
      await sleep(200);
    }
  }
}

/** A cluster for the tests of a file, each of which has a table of its own. Prints at the end what was measured. */
export function trialsOn<C extends Cluster>(start: () => Promise<C>) {
  const findings = new Findings();
  let cluster: C;
  let table: string;
  beforeAll(async () => {
    cluster = await start();
  });
  afterAll(async () => {
    findings.print();
    await cluster?.close();
  });
  beforeEach(async () => {
    await cluster.healthy();
    table = await cluster.newTable();
  });
  return {
    get cluster(): C {
      return cluster;
    },
    survive: (fault: string, fail: () => Promise<void>) => survive({ cluster, table, findings }, fault, fail),
  };
}

/** Faults of links, whatever the machines do. */
export const faultsOfLinks: Readonly<Record<string, (network: Network) => Promise<void>>> = {
  async '5 % of all packets lost for 30 s'(network) {
    network.dropEverywhere({ percent: 5 });
    await sleep(faultMs);
  },
  async '20 % of all packets lost for 30 s'(network) {
    network.dropEverywhere({ percent: 20 });
    await sleep(faultMs);
  },
  async 'packets above 1 200 bytes lost for 30 s'(network) {
    network.dropEverywhere({ aboveBytes: 1_200 });
    await sleep(faultMs);
  },
  async 'the app cut off for 5 s'(network) {
    network.cut([network.app], network.nodes);
    await sleep(5_000);
  },
  async 'the app cut off for 15 s'(network) {
    network.cut([network.app], network.nodes);
    await sleep(15_000);
  },
};

/** Every machine of the database is alone; the app reaches all of them. */
export async function apart(network: Network): Promise<void> {
  for (const machine of network.nodes) {
    network.drop(machine, { from: network.nodes.filter((other) => other !== machine) });
  }
  await sleep(faultMs);
}

/** A machine without any link for 2 s, then with all for 2 s, ten times. */
export async function flap(network: Network, machine: Machine): Promise<void> {
  const others = [network.app, ...network.nodes].filter((other) => other !== machine);
  for (let i = 0; i < 10; i++) {
    network.cut([machine], others);
    await sleep(2_000);
    network.heal();
    await sleep(2_000);
  }
}

const seconds = (ms: number) => (Number.isFinite(ms) ? (ms / 1_000).toFixed(1) : '–');

const times200 = (answers: readonly Answer[]) =>
  answers
    .filter(({ number }) => number === 200)
    .map(({ at }) => at)
    .sort((a, b) => a - b);

function firstAfter(time: number, answers: readonly Answer[]): number {
  return times200(answers).find((at) => at >= time) ?? Infinity;
}

/** Between two 200s, the second of which came after the fault began. */
function longestWithout200({ answers, struck }: Run): number {
  const times = times200(answers);
  return Math.max(...times.map((at, i) => (i > 0 && at > struck ? at - times[i - 1]! : 0)));
}

/** A line a second: how many responses of each code there were. */
function drawingOf(answers: readonly Answer[], struck: number, healed: number): string {
  const end = Math.max(...answers.map(({ at }) => at));
  const lines: string[] = [];
  for (let from = struck - 2_000; from < end; from += 1_000) {
    const within = answers.filter(({ at }) => at >= from && at < from + 1_000);
    const count = (number: number) => within.filter((answer) => answer.number === number).length;
    const others = [...new Set(within.map(({ number }) => number))].filter((n) => n !== 200 && n !== 40003);
    const bar = '#'.repeat(Math.ceil(count(200) / 20));
    const rest = others.sort().map((number) => `${count(number)} × ${number}`);
    const isCut = from >= struck && from < healed;
    const second = String((from - struck) / 1_000).padStart(4);
    lines.push(`${second} ${isCut ? '|' : ' '} ${[bar, ...rest].join(' ')}`.trimEnd());
  }
  return lines.join('\n');
}
