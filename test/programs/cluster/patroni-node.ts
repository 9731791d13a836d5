import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, Daemon, folderOf, mountDisk, signalTree } from './machine.js';
import type { Machine, Network } from './network.js';
import { queryAt } from './postgres.js';

/** What a machine is in the cluster, as Patroni says. */
export type Role = 'leader' | 'sync_standby' | 'replica';

/** What differs from the files of `examples/cluster`, on a disk of the test's machine. */
export interface PatroniSettings {
  /** The size of each machine's own disk. */
  readonly diskMiB?: number;
  /** Changes a file, for a cluster that must break its promises. */
  readonly change?: (text: string) => string;
  /** The roles of three healthy nodes. Default: one of the standbys is synchronous. */
  readonly roles?: readonly Role[];
}

/** One machine: etcd, Patroni, and the PostgreSQL that Patroni runs. */
export class PatroniNode {
  readonly folder: string;
  readonly machine: Machine;
  readonly etcd: Daemon;
  readonly patroni: Daemon;

  constructor(account: Account, network: Network, index: number, settings: PatroniSettings) {
    this.folder = folderOf(account);
    if (settings.diskMiB) mountDisk(this.folder, account, settings.diskMiB);
    this.machine = network.nodes[index]!;
    for (const file of ['etcd.yml', 'patroni.yml']) {
      const text = network.configure(`postgres/${file}`, this.folder, index);
      writeFileSync(join(this.folder, file), settings.change?.(text) ?? text);
    }
    this.etcd = new Daemon(account, this.folder, 'etcd', this.machine);
    // PostgreSQL is not Patroni's child: it outlives Patroni.
    this.patroni = new Daemon(account, this.folder, 'patroni', this.machine, () => this.postgres);
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

  /** Leaves no room on the disk: dd ends when it finds none. */
  fillDisk(): void {
    spawnSync('dd', ['if=/dev/zero', `of=${this.#ballast}`, 'bs=1M']);
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
