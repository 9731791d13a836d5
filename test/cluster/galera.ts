import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { accountOf, Daemon, folderOf, freePorts, run, until } from './machine.js';

const server = '/usr/sbin/mariadbd';
const provider = '/usr/lib/galera/libgalera_smm.so';

/** Whether MariaDB and Galera are installed. */
export function galeraPrograms(): boolean {
  return existsSync(server) && existsSync(provider);
}

/** One MariaDB server on loopback, alone or as a node of a Galera cluster. */
export class MariaDb {
  readonly daemon: Daemon;

  constructor(
    daemon: Daemon,
    readonly port: number,
    private readonly wsrep: readonly string[],
  ) {
    this.daemon = daemon;
  }

  get url(): string {
    return `mysql://plants:plants@127.0.0.1:${this.port}/plants`;
  }

  get dataFolder(): string {
    return join(this.daemon.folder, `data-${this.port}`);
  }

  get #options(): string[] {
    const { folder } = this.daemon;
    return [
      '--no-defaults',
      `--datadir=${this.dataFolder}`,
      `--socket=${join(folder, `${this.port}.sock`)}`,
      `--pid-file=${join(folder, `${this.port}.pid`)}`,
      `--port=${this.port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      '--innodb-buffer-pool-size=64M',
      '--performance-schema=OFF',
      // What Galera needs; a server alone gets the same, so that the figures compare.
      '--binlog-format=ROW',
      '--innodb-autoinc-lock-mode=2',
      ...this.wsrep,
    ];
  }

  install(): void {
    const { account, folder } = this.daemon;
    run(
      account,
      'mariadb-install-db',
      [
        '--no-defaults',
        `--datadir=${this.dataFolder}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ],
      folder,
    );
    const bootstrap = join(folder, `${this.port}.sql`);
    writeFileSync(
      bootstrap,
      [
        'CREATE DATABASE plants;',
        "CREATE USER plants@'127.0.0.1' IDENTIFIED BY 'plants';",
        "GRANT ALL ON *.* TO plants@'127.0.0.1';",
      ].join('\n'),
    );
  }

  start(...options: string[]): void {
    this.daemon.start(server, [...this.#options, ...options]);
  }

  /** The first start creates the database and its user. */
  startFirst(...options: string[]): void {
    this.start(`--init-file=${join(this.daemon.folder, `${this.port}.sql`)}`, ...options);
  }

  /** Starts a node again after a crash, from the position that its own log gives: the others send what it missed. */
  rejoin(...options: string[]): void {
    this.start(`--wsrep-start-position=${this.recoveredPosition()}`, ...options);
  }

  /** How far this node had come: `<cluster>:<sequence number>`. */
  recoveredPosition(): string {
    const { account, folder } = this.daemon;
    const log = join(folder, `${this.port}.recovery`);
    run(account, server, [...this.#options, '--wsrep-recover', `--log-error=${log}`], folder);
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

  async query(sql: string): Promise<string[][]> {
    const connection = await mysql.createConnection({
      uri: this.url,
      connectTimeout: 2_000,
      rowsAsArray: true,
    });
    try {
      const [rows] = await connection.query({ sql, timeout: 20_000 });
      return rows as unknown as string[][];
    } finally {
      connection.destroy();
    }
  }

  /** Resolves when the server takes statements, and a node has all that the cluster has. */
  ready(): Promise<void> {
    const isNode = this.wsrep.length > 0;
    return until(`MariaDB on port ${this.port}`, async () => {
      if (!this.daemon.isRunning) throw new Error(this.daemon.lastWords);
      const [[, state] = []] = await this.query(
        isNode ? "SHOW STATUS LIKE 'wsrep_local_state_comment'" : "SELECT 1, 'Synced'",
      );
      if (state !== 'Synced') throw new Error(`the node is ${state}`);
    });
  }

  /** Resolves while a statement that starts so is held up by a lock. */
  seesWaiting(statement: string): Promise<void> {
    return until(`a waiting ${statement}`, async () => {
      const waiting = await this.query(
        `SELECT 1 FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting%lock' AND INFO LIKE '${statement}%'`,
      );
      if (waiting.length === 0) throw new Error('none waits');
    });
  }

  /** What is stored, as `id` to `name`, after all that the cluster committed before has arrived. */
  async plants(table: string): Promise<Map<string, string>> {
    const sql = `SET STATEMENT wsrep_sync_wait = 1 FOR SELECT CAST(id AS CHAR), name FROM ${table}`;
    return new Map((await this.query(sql)) as [string, string][]);
  }

  /** Kills the connections that insert at this moment, or only what they do; tells how many. */
  async killConnections(what: 'QUERY' | 'CONNECTION'): Promise<number> {
    const inserting = await this.query(
      "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'INSERT%'",
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
  const [port] = await freePorts(1);
  const node = new MariaDb(new Daemon(account, folderOf(account), 'mariadb'), port!, []);
  node.install();
  node.startFirst();
  await node.ready();
  return node;
}

/** Three nodes that run, with Galera's default timeouts. */
export async function galeraCluster(): Promise<MariaDb[]> {
  const account = accountOf('mysql')!;
  const folder = folderOf(account);
  const ports = await freePorts(12);
  const members = [0, 1, 2].map((i) => ports.slice(i * 4, i * 4 + 4) as [number, number, number, number]);
  const address = members.map(([, group]) => `127.0.0.1:${group}`).join(',');
  const nodes = members.map(([port, group, increments, snapshot], i) => {
    return new MariaDb(new Daemon(account, folder, `node-${i}`), port, [
      '--wsrep-on=ON',
      `--wsrep-provider=${provider}`,
      `--wsrep-cluster-address=gcomm://${address}`,
      `--wsrep-node-name=node-${i}`,
      '--wsrep-node-address=127.0.0.1',
      '--wsrep-sst-method=rsync',
      `--wsrep-sst-receive-address=127.0.0.1:${snapshot}`,
      `--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:${group};ist.recv_addr=127.0.0.1:${increments};gcache.size=64M`,
    ]);
  });
  for (const node of nodes) node.install();
  nodes[0]!.startFirst('--wsrep-new-cluster');
  await nodes[0]!.ready();
  for (const node of nodes.slice(1)) {
    node.start();
    await node.ready();
  }
  return nodes;
}
