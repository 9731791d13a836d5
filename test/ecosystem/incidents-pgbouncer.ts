/** Incidents of a PgBouncer in front of PostgreSQL, as in incidents.ts. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { accountOf, clean, Daemon, until } from '../programs/cluster/machine.js';
import { freePort } from '../support/program.js';
import { altered, type Garden, type Incident, inSlowStatements, trigger, unavailable } from './incidents.js';

const program = '/usr/sbin/pgbouncer';
// It refuses to run as root.
const account = process.getuid?.() === 0 ? accountOf('nobody') : undefined;

export const pgbouncerObstacle =
  spawnSync(program, ['--version']).error || !account ? 'PgBouncer is not installed' : undefined;

/** A PgBouncer whose sessions share one connection to the server; a statement waits for it for 3 s. */
export class Pgbouncer {
  private constructor(
    readonly daemon: Daemon,
    readonly port: number,
  ) {}

  /** Starts one for the database and the user of a name. */
  static async start(socketFolder: string, name: string): Promise<Pgbouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'plants-bouncer-'));
    chownSync(folder, account!.uid, account!.gid);
    const port = await freePort();
    const settings = `
      [databases]
      ${name} = host=${socketFolder} user=${name}
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = ${port}
      unix_socket_dir =
      auth_type = any
      admin_users = admin
      pool_mode = transaction
      default_pool_size = 1
      query_wait_timeout = 3
      server_login_retry = 1
      ignore_startup_parameters = statement_timeout`;
    writeFileSync(join(folder, 'pgbouncer.ini'), settings.replace(/^ +/gm, ''));
    const pgbouncer = new Pgbouncer(new Daemon(account!, folder, 'pgbouncer'), port);
    await pgbouncer.restart();
    return pgbouncer;
  }

  async restart(): Promise<void> {
    this.daemon.start(program, ['pgbouncer.ini']);
    await until('PgBouncer', () => this.command('SHOW VERSION'));
  }

  stop(): Promise<void> {
    return this.daemon.signal('SIGKILL');
  }

  /** A connection, by default to its console. */
  async connect(user = 'admin', database = 'pgbouncer'): Promise<pg.Client> {
    const client = new pg.Client(`postgres://${user}@127.0.0.1:${this.port}/${database}`);
    await client.connect();
    return client;
  }

  /** Runs a command of its console. */
  async command(text: string): Promise<void> {
    const client = await this.connect();
    await client.query(text).finally(() => client.end());
  }

  close(): Promise<void> {
    return clean([this.daemon], this.daemon.folder);
  }
}

export interface PgbouncerGarden extends Garden {
  readonly pgbouncer: Pgbouncer;
}

const command =
  (text: string, remedy: string) =>
  async ({ pgbouncer }: PgbouncerGarden) => {
    await pgbouncer.command(text);
    return () => pgbouncer.command(remedy);
  };

export const incidentsOfPgbouncer: readonly Incident<PgbouncerGarden>[] = [
  {
    ...unavailable,
    name: 'PgBouncer is down',
    party: 'network',
    async provoke({ pgbouncer }) {
      await pgbouncer.stop();
      return () => pgbouncer.restart();
    },
    line: /50[03]01 /,
  },
  {
    ...unavailable,
    name: 'PgBouncer takes no more clients',
    party: 'network',
    async provoke({ doorway, name, pgbouncer }) {
      const admin = await pgbouncer.connect();
      const other = await pgbouncer.connect(name, name);
      await admin.query('SET max_client_conn = 1');
      doorway.close();
      await doorway.reopen();
      return async () => {
        await other.end();
        await admin.query('SET max_client_conn = 100');
        await admin.end();
      };
    },
    line: /50[03]01 .* 08P01 protocol_violation/,
  },
  {
    ...unavailable,
    name: 'all server connections of PgBouncer are taken',
    party: 'network',
    async provoke({ name, pgbouncer }) {
      const holder = await pgbouncer.connect(name, name);
      await holder.query('BEGIN');
      return () => holder.end();
    },
    line: /50001 .* 08P01 protocol_violation/,
  },
  {
    ...unavailable,
    name: 'PgBouncer is paused',
    party: 'network',
    provoke: command('PAUSE', 'RESUME'),
    line: /50001 /,
  },
  {
    name: 'PgBouncer drops connections',
    party: 'network',
    page: ['PlantStoreConnectionsLost', 'PlantStoreUnavailable'],
    provoke: inSlowStatements<PgbouncerGarden>(
      trigger('PERFORM pg_sleep(0.5)', 'STATEMENT'),
      async ({ name, pgbouncer }) => {
        await pgbouncer.command(`KILL ${name}`);
        await pgbouncer.command(`RESUME ${name}`);
      },
    ),
    line: /50[03]01 /,
  },
  {
    ...unavailable,
    name: 'it shuts PgBouncer out',
    party: 'database',
    provoke: altered('ALLOW_CONNECTIONS false', 'ALLOW_CONNECTIONS true'),
    line: /50[03]01 /,
  },
];
