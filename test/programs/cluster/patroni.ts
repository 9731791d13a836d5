import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, accountOf, clean, Daemon, folderOf, mountDisk, signalTree, until } from './machine.js';
import { type Machine, Network } from './network.js';
import { plantsOf, queryAt } from './postgres.js';

/** Whether Patroni and the programs around it are installed. */
export function patroniPrograms(): boolean {
  return ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/haproxy', '/usr/sbin/pgbouncer'].every(existsSync);
}

/** What Patroni says of a node. */
interface Member {
  readonly name: string;
  readonly role: 'leader' | 'sync_standby' | 'replica';
  readonly state: string;
}

/** What differs from the files of `examples/cluster`, on a disk of the test's machine. */
export interface PatroniSettings {
  /** The size of each machine's own disk. */
  readonly diskMiB?: number;
  /** Changes a file, for a cluster that must break its promises. */
  readonly change?: (text: string) => string;
  /** The roles of three healthy nodes. Default: one of the standbys is synchronous. */
  readonly roles?: readonly Member['role'][];
}

/** One machine: etcd, Patroni, and the PostgreSQL that Patroni runs. */
export class PatroniNode {
  readonly machine: Machine;
  readonly etcd: Daemon;
  readonly patroni: Daemon;

  constructor(
    account: Account,
    readonly folder: string,
    readonly network: Network,
    index: number,
    { diskMiB, change = (text) => text }: PatroniSettings,
  ) {
    if (diskMiB) mountDisk(folder, account, diskMiB);
    this.machine = network.nodes[index]!;
    for (const file of ['etcd.yml', 'patroni.yml']) {
      writeFileSync(join(folder, file), change(network.configure(`postgres/${file}`, folder, index)));
    }
    this.etcd = new Daemon(account, folder, 'etcd', this.machine);
    // PostgreSQL is not Patroni's child: it outlives Patroni.
    this.patroni = new Daemon(account, folder, 'patroni', this.machine, () => this.postgres);
  }

  get name(): string {
    return this.machine.name;
  }

  get address(): string {
    return this.machine.address;
  }

  get daemons(): readonly Daemon[] {
    return [this.patroni, this.etcd];
  }

  get dataFolder(): string {
    return join(this.folder, 'postgres');
  }

  /** PostgreSQL's process. */
  get postgres(): number | undefined {
    try {
      const pid = Number(readFileSync(join(this.dataFolder, 'postmaster.pid'), 'utf8').split('\n')[0]);
      // The file outlives a kill, and its process id may belong to another process by then.
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.folder) ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  start(): void {
    this.startEtcd();
    this.startPatroni();
  }

  startPatroni(): void {
    this.patroni.start('/usr/bin/patroni', [join(this.folder, 'patroni.yml')]);
  }

  startEtcd(): void {
    this.etcd.start('/usr/bin/etcd', ['--config-file', join(this.folder, 'etcd.yml')]);
  }

  /** The whole machine. */
  async signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): Promise<void> {
    await Promise.all(this.daemons.map((daemon) => daemon.signal(signal)));
  }

  /** Leaves no room on the disk. */
  fillDisk(): void {
    const { bavail, bsize } = statfsSync(this.folder);
    execFileSync('fallocate', ['--length', String(bavail * bsize), this.#ballast]);
  }

  /** Leaves room again, and starts what the full disk has ended, as systemd would. */
  freeDisk(): void {
    rmSync(this.#ballast);
    if (!this.etcd.isRunning) this.startEtcd();
    if (!this.patroni.isRunning) this.startPatroni();
  }

  get #ballast(): string {
    return join(this.folder, 'ballast');
  }

  /** PostgreSQL alone. */
  killPostgres(): void {
    if (this.postgres) signalTree(this.postgres, 'SIGKILL');
  }

  /** Ends the connections that insert at this moment as an administrator does, or only their statements; returns how many. */
  async killConnections(how: 'pg_terminate_backend' | 'pg_cancel_backend'): Promise<number> {
    const inserting = "state = 'active' AND query LIKE 'INSERT%'";
    return (await this.query(`SELECT ${how}(pid) FROM pg_stat_activity WHERE ${inserting}`)).length;
  }

  query(sql: string, database = 'plants'): Promise<string[][]> {
    return queryAt(`postgres://postgres:change-me@${this.address}:5432/${database}`, sql);
  }
}

/** Three nodes with HAProxy and PgBouncer before them, each run by its file of `examples/cluster`. */
export class PatroniCluster {
  readonly nodes: readonly PatroniNode[];
  readonly network = new Network();
  readonly #folder: string;
  readonly #front: Daemon[] = [];
  readonly #roles: readonly string[];

  private constructor(settings: PatroniSettings) {
    this.#roles = settings.roles ?? ['leader', 'replica', 'sync_standby'];
    const account = accountOf('postgres')!;
    this.#folder = folderOf(account);
    this.nodes = this.network.nodes.map(
      (_, i) => new PatroniNode(account, folderOf(account), this.network, i, settings),
    );
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

  get pgbouncerUrl(): string {
    return this.url.replace(':5432', ':6432');
  }

  /** Resolves when all three run and one of them is the synchronous standby. */
  healthy(): Promise<void> {
    // A primary that was replaced may have to be rewound first.
    const ms = 120_000;
    return until(
      'three healthy nodes',
      async () => {
        const members = await this.members();
        const roles = members.map(({ role }) => role).sort();
        const all = members.map(({ name, role, state }) => `${name} ${role} ${state}`).join(', ');
        if (roles.join() !== this.#roles.join()) throw new Error(all);
        if (members.some(({ state }) => state !== 'running' && state !== 'streaming')) throw new Error(all);
      },
      ms,
    );
  }

  async members(): Promise<Member[]> {
    const answers = this.nodes.map(async ({ address }) => {
      const answer = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(1_000) });
      return ((await answer.json()) as { members: Member[] }).members;
    });
    return Promise.any(answers);
  }

  primary(): Promise<PatroniNode> {
    return this.#node('leader');
  }

  synchronousStandby(): Promise<PatroniNode> {
    return this.#node('sync_standby');
  }

  async #node(role: Member['role']): Promise<PatroniNode> {
    const member = (await this.members()).find((each) => each.role === role);
    const node = this.nodes.find(({ name }) => name === member?.name);
    if (!node) throw new Error(`there is no ${role}`);
    return node;
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

async function askPatroni({ address }: PatroniNode, what: string, settings: object): Promise<void> {
  const answer = await fetch(`http://${address}:8008/${what}`, {
    method: 'POST',
    body: JSON.stringify(settings),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}
