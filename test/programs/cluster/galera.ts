import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { mysqlStorage } from 'plant-store/mysql';
import { freePort } from '../../support/program.js';
import { accountOf, clean, Daemon, folderOf, run, until } from './machine.js';
import { Network } from './network.js';

const server = '/usr/sbin/mariadbd';
const provider = '/usr/lib/galera/libgalera_smm.so';

/** Whether MariaDB and Galera are installed. */
export function galeraPrograms(): boolean {
  return existsSync(server) && existsSync(provider);
}

/** Runs a statement on a connection of its own. */
async function queryAt(uri: string, sql: string, connectTimeout = 2_000): Promise<string[][]> {
  const connection = await mysql.createConnection({ uri, connectTimeout, rowsAsArray: true });
  try {
    const [rows] = await connection.query({ sql, timeout: 20_000 });
    return rows as unknown as string[][];
  } finally {
    connection.destroy();
  }
}

/** Settings that keep a server small; all others are those of MariaDB, or of the file of `examples/cluster`. */
const small = ['--innodb-buffer-pool-size=64M', '--performance-schema=OFF'];

/** One MariaDB server on loopback, alone or as a node of a Galera cluster. */
export class MariaDb {
  readonly address: string;
  /** Where its users connect from, as MariaDB spells it. */
  readonly #host: string;
  readonly #isNode: boolean;

  constructor(
    readonly daemon: Daemon,
    private readonly options: readonly string[],
    readonly port: number,
    /** Its place in a cluster; alone, it is on loopback. */
    node?: { readonly address: string; readonly anyHost: string },
  ) {
    this.address = node?.address ?? '127.0.0.1';
    this.#host = node?.anyHost ?? this.address;
    this.#isNode = node !== undefined;
  }

  get url(): string {
    return `mysql://plants:plants@${this.address}:${this.port}/plants`;
  }

  get dataFolder(): string {
    return join(this.daemon.folder, 'mariadb');
  }

  install(): void {
    const { account, folder } = this.daemon;
    const authentication = '--auth-root-authentication-method=normal';
    const options = ['--no-defaults', `--datadir=${this.dataFolder}`, authentication, '--skip-test-db'];
    run(account, 'mariadb-install-db', options, folder);
    const statements = [
      'CREATE DATABASE plants;',
      `CREATE USER plants@'${this.#host}' IDENTIFIED BY 'plants';`,
      `GRANT ALL ON *.* TO plants@'${this.#host}' WITH GRANT OPTION;`,
      // HAProxy's health check.
      `CREATE USER haproxy@'${this.#host}';`,
    ];
    writeFileSync(join(folder, 'first.sql'), statements.join('\n'));
  }

  start(...options: string[]): void {
    this.daemon.start(server, [...this.options, ...options]);
  }

  /** The first start creates the database and its user. */
  startFirst(...options: string[]): void {
    this.start(`--init-file=${join(this.daemon.folder, 'first.sql')}`, ...options);
  }

  /** Starts a node again after a crash, from the position that its own log gives: the other nodes send the writes that it missed. */
  rejoin(...options: string[]): void {
    this.start(`--wsrep-start-position=${this.recoveredPosition()}`, ...options);
  }

  /** How far this node had come: `<cluster>:<sequence number>`. */
  recoveredPosition(): string {
    const { account, folder } = this.daemon;
    const log = join(folder, 'recovery.log');
    run(account, server, [...this.options, '--wsrep-recover', `--log-error=${log}`], folder);
    const position = /Recovered position: *(\S+)/.exec(readFileSync(log, 'utf8'))?.[1];
    if (!position) throw new Error(`no position in ${log}`);
    writeFileSync(log, '');
    return position;
  }

  /** Marks the node as the one to start the cluster from. */
  allowBootstrap(): void {
    const file = join(this.dataFolder, 'grastate.dat');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/safe_to_bootstrap: \d/, 'safe_to_bootstrap: 1'));
  }

  query(sql: string, connectTimeout = 2_000): Promise<string[][]> {
    return queryAt(this.url, sql, connectTimeout);
  }

  /** Resolves when the server accepts statements, and a node has every write of the cluster. */
  ready(): Promise<void> {
    return until(`MariaDB on port ${this.port}`, async () => {
      if (!this.daemon.isRunning) throw new Error(this.daemon.lastWords);
      const state = this.#isNode ? await this.status('wsrep_local_state_comment') : await this.#answers();
      if (state !== 'Synced') throw new Error(`the node is ${state}`);
    });
  }

  async #answers(): Promise<'Synced'> {
    await this.query('SELECT 1');
    return 'Synced';
  }

  async status(name: string): Promise<string | undefined> {
    const [[, value] = []] = await this.query(`SHOW STATUS LIKE '${name}'`);
    return value;
  }

  /** What is stored, as `id` to `name`, after all that the cluster committed before has arrived. */
  async plants(table = 'plants'): Promise<Map<string, string>> {
    const sql = `SET STATEMENT wsrep_sync_wait = 1 FOR SELECT CAST(id AS CHAR), name FROM ${table}`;
    return new Map((await this.query(sql, 20_000)) as [string, string][]);
  }

  /** What this node stores, whatever the others do. */
  async ownPlants(table: string): Promise<Map<string, string>> {
    const sql = `SET STATEMENT wsrep_dirty_reads = ON FOR SELECT CAST(id AS CHAR), name FROM ${table}`;
    return new Map((await this.query(sql, 20_000)) as [string, string][]);
  }

  /** Kills the connections that insert at this moment, or only their statements; returns how many. */
  async killConnections(what: 'QUERY' | 'CONNECTION'): Promise<number> {
    const inserting = await this.query(
      // Only the storage's INSERTs begin with settings.
      "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE '/*M!%'",
    );
    // One that has ended meanwhile cannot be killed.
    for (const [id] of inserting) await this.query(`KILL ${what} ${id}`).catch(() => {});
    return inserting.length;
  }

  /** How many transactions lost against one of another node. */
  async conflicts(): Promise<number> {
    const rows = await this.query(
      "SHOW STATUS WHERE Variable_name IN ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts')",
    );
    return rows.reduce((sum, [, count]) => sum + Number(count), 0);
  }
}

/** One MariaDB that runs. */
export async function oneMariaDb(): Promise<MariaDb> {
  const account = accountOf('mysql')!;
  const folder = folderOf(account);
  const port = await freePort();
  const options = [
    '--no-defaults',
    `--datadir=${join(folder, 'mariadb')}`,
    `--socket=${join(folder, 'mariadb.sock')}`,
    `--pid-file=${join(folder, 'mariadb.pid')}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    '--skip-name-resolve',
    ...small,
  ];
  const server = new MariaDb(new Daemon(account, folder, 'mariadb'), options, port);
  server.install();
  server.startFirst();
  await server.ready();
  return server;
}

/** Three nodes with HAProxy before them, each run by its file of `examples/cluster`. */
export class GaleraCluster {
  readonly nodes: readonly MariaDb[];
  readonly network = new Network();
  readonly #haproxy: Daemon;
  #tables = 0;

  private constructor(change: (text: string) => string) {
    const account = accountOf('mysql')!;
    this.nodes = this.network.nodes.map((machine, i) => {
      const folder = folderOf(account);
      const file = join(folder, 'galera.cnf');
      writeFileSync(file, change(this.network.configure('galera/galera.cnf', folder, i)));
      const options = [`--defaults-file=${file}`, ...small];
      const daemon = new Daemon(account, folder, machine.name, machine);
      return new MariaDb(daemon, options, 3306, { address: machine.address, anyHost: this.network.anyHost });
    });
    this.#haproxy = new Daemon(account, folderOf(account), 'haproxy', this.network.app);
    const file = join(this.#haproxy.folder, 'haproxy.cfg');
    writeFileSync(file, this.network.configure('galera/haproxy.cfg', this.#haproxy.folder));
    this.#haproxy.start('/usr/sbin/haproxy', ['-db', '-f', file]);
  }

  /** @param change changes the file, for a cluster that must break its promises */
  static async start(change = (text: string) => text): Promise<GaleraCluster> {
    const cluster = new GaleraCluster(change);
    const [first, ...others] = cluster.nodes;
    for (const node of cluster.nodes) node.install();
    first!.startFirst('--wsrep-new-cluster');
    await first!.ready();
    for (const node of others) {
      node.start();
      await node.ready();
    }
    return cluster;
  }

  /** What an app is given: HAProxy's address. */
  get url(): string {
    return `mysql://plants:plants@${this.network.app.address}:3306/plants`;
  }

  /** Creates a table of another name each time; resolves with its name. */
  async newTable(): Promise<string> {
    const table = `plants${this.#tables++}`;
    const pool = mysql.createPool(this.nodes[0]!.url);
    await mysqlStorage(pool, { table }).createTable();
    await pool.end();
    return table;
  }

  query(sql: string): Promise<unknown> {
    return queryAt(this.url, sql);
  }

  /**
   * Resolves when every node has all that the cluster has. A cluster whose nodes have all lost their quorum, and do not
   * find it again, gets a new one, as an operator would give it.
   */
  async healthy(): Promise<void> {
    const timer = setTimeout(() => void this.resetQuorum().catch(() => {}), 20_000);
    try {
      await Promise.all(this.nodes.map((node) => node.ready()));
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Makes the most advanced node a primary component, if there is none.
   *
   * @see https://mariadb.com/docs/galera-cluster/high-availability/resetting-the-quorum-cluster-bootstrap
   */
  async resetQuorum(): Promise<void> {
    const statuses = await Promise.all(this.nodes.map((node) => node.status('wsrep_cluster_status')));
    if (statuses.includes('Primary')) return;
    const committed = await Promise.all(this.nodes.map((node) => node.status('wsrep_last_committed')));
    const mostAdvanced = committed.indexOf(String(Math.max(...committed.map(Number))));
    await this.nodes[mostAdvanced]!.query("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'");
  }

  async holdings(table: string): Promise<Map<string, string>[]> {
    // A node that was frozen still acts as a member until it learns otherwise, and then rejects statements for a while.
    return until('what all nodes hold', async () => {
      await this.healthy();
      return Promise.all(this.nodes.map((node) => node.plants(table)));
    });
  }

  async close(): Promise<void> {
    for (const daemon of [this.#haproxy, ...this.nodes.map((node) => node.daemon)]) {
      await clean([daemon], daemon.folder);
    }
    this.network.close();
  }
}
