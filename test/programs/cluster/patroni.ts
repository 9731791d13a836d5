import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { accountOf, clean, Daemon, folderOf, until } from './machine.js';
import { Network } from './network.js';
import { PatroniNode, type PatroniSettings, type Role } from './patroni-node.js';
import { plantsOf, queryAt } from './postgres.js';

/** Whether Patroni and the programs around it are installed. */
export function patroniPrograms(): boolean {
  return ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/haproxy', '/usr/sbin/pgbouncer'].every(existsSync);
}

/** What Patroni says of a node. */
interface Member {
  readonly name: string;
  readonly role: Role;
  readonly state: string;
}

/** Three nodes with HAProxy and PgBouncer before them, each run by its file of `examples/cluster`. */
export class PatroniCluster {
  readonly nodes: readonly PatroniNode[];
  readonly network = new Network();
  readonly #folder: string;
  readonly #front: Daemon[] = [];
  readonly #roles: readonly string[];
  #tables = 0;

  private constructor(settings: PatroniSettings) {
    this.#roles = settings.roles ?? ['leader', 'replica', 'sync_standby'];
    const account = accountOf('postgres')!;
    this.#folder = folderOf(account);
    this.nodes = this.network.nodes.map((_, i) => new PatroniNode(account, this.network, i, settings));
    writeFileSync(join(this.#folder, 'userlist.txt'), '"plants" "change-me"\n');
    for (const [name, ...args] of [
      ['haproxy', '-db', '-f', 'haproxy.cfg'],
      ['pgbouncer', 'pgbouncer.ini'],
    ] as const) {
      const file = args.at(-1)!;
      const text = this.network.configure(`postgres/${file}`, this.#folder);
      writeFileSync(join(this.#folder, file), settings.change?.(text) ?? text);
      const daemon = new Daemon(account, this.#folder, name, this.network.app);
      this.#front.push(daemon);
      daemon.start(`/usr/sbin/${name}`, args);
    }
  }

  static async start(settings: PatroniSettings = {}): Promise<PatroniCluster> {
    const cluster = new PatroniCluster(settings);
    try {
      for (const node of cluster.nodes) node.start();
      await cluster.healthy();
      const primary = await cluster.primary();
      await primary.query("CREATE USER plants PASSWORD 'change-me'", 'postgres');
      await primary.query('CREATE DATABASE plants OWNER plants', 'postgres');
      return cluster;
    } catch (error) {
      const words = cluster.nodes.flatMap((node) => node.daemons.map((daemon) => daemon.lastWords));
      await cluster.close();
      throw new Error(words.join('\n'), { cause: error });
    }
  }

  /** What an app is given. */
  get url(): string {
    return `postgres://plants:change-me@${this.network.app.address}:5432/plants`;
  }

  /** Creates a table of another name each time; resolves with its name. */
  async newTable(): Promise<string> {
    const table = `plants${this.#tables++}`;
    const pool = new pg.Pool({ connectionString: this.url });
    await postgresStorage(pool, { table }).createTable();
    await pool.end();
    return table;
  }

  query(sql: string): Promise<unknown> {
    return queryAt(this.url, sql);
  }

  get pgbouncerUrl(): string {
    return this.url.replace(':5432', ':6432');
  }

  /** Resolves when all three run, one is the synchronous standby, and all say so: a node that was cut off says what it knew before. */
  healthy(): Promise<void> {
    // A primary that was replaced may have to be rewound first.
    const ms = 120_000;
    return until('three healthy nodes', () => this.#seeHealthy(), ms);
  }

  async #seeHealthy(): Promise<void> {
    const views = await Promise.all(this.nodes.map(membersSeenBy));
    const texts = views.map((members) =>
      members
        .map(({ name, role, state }) => `${name} ${role} ${state}`)
        .sort()
        .join(', '),
    );
    const members = views[0]!;
    const roles = members.map(({ role }) => role).sort();
    const isRunning = members.every(({ state }) => state === 'running' || state === 'streaming');
    if (new Set(texts).size > 1 || roles.join() !== this.#roles.join() || !isRunning)
      throw new Error(texts.join('; '));
  }

  members(): Promise<Member[]> {
    return Promise.any(this.nodes.map(membersSeenBy));
  }

  primary(): Promise<PatroniNode> {
    return this.#node('leader');
  }

  synchronousStandby(): Promise<PatroniNode> {
    return this.#node('sync_standby');
  }

  /** Waits for a node of this role: after a fault Patroni takes a moment to appoint another synchronous standby. */
  #node(role: Member['role']): Promise<PatroniNode> {
    return until(`a ${role}`, async () => {
      const member = (await this.members()).find((each) => each.role === role);
      const node = this.nodes.find(({ name }) => name === member?.name);
      if (!node) throw new Error(`there is no ${role}`);
      return node;
    });
  }

  /** What an administrator does before work on a machine. */
  async switchOver(): Promise<void> {
    const [leader, candidate] = [await this.primary(), await this.synchronousStandby()];
    await askPatroni(leader, 'switchover', { leader: leader.name, candidate: candidate.name });
  }

  /** What an administrator does who gives up a primary: nobody checks what the candidate has. */
  async failOver(candidate: PatroniNode): Promise<void> {
    await askPatroni(candidate, 'failover', { candidate: candidate.name });
  }

  /** The plants of each node, once all nodes have the writes of the primary. */
  async holdings(table: string): Promise<Map<string, string>[]> {
    await this.healthy();
    const primary = await this.primary();
    const [[position] = []] = await primary.query('SELECT pg_current_wal_flush_lsn()::text');
    const others = this.nodes.filter((node) => node !== primary);
    for (const node of others) {
      await until(`${node.name} with all of ${primary.name}`, async () => {
        const [[has] = []] = await node.query(`SELECT pg_last_wal_replay_lsn() >= '${position}'`);
        if (!has) throw new Error(`it has not replayed ${position}`);
      });
    }
    return Promise.all([primary, ...others].map((node) => plantsOf(node, table)));
  }

  async close(): Promise<void> {
    await clean(this.#front, this.#folder);
    for (const node of this.nodes) await clean(node.daemons, node.folder);
    this.network.close();
  }
}

async function membersSeenBy({ address }: PatroniNode): Promise<Member[]> {
  const answer = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(1_000) });
  return ((await answer.json()) as { members: Member[] }).members;
}

async function askPatroni({ address }: PatroniNode, what: string, settings: object): Promise<void> {
  const answer = await fetch(`http://${address}:8008/${what}`, {
    method: 'POST',
    body: JSON.stringify(settings),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}
