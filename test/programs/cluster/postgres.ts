import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../support/program.js';
import { accountOf, Daemon, folderOf, run, until } from './machine.js';

/** The newest PostgreSQL that is installed; its programs are not on the PATH. */
export function postgresPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  try {
    const versions = readdirSync(root)
      .map(Number)
      .sort((a, b) => b - a);
    return versions[0] ? join(root, String(versions[0]), 'bin') : undefined;
  } catch {
    return undefined;
  }
}

/** Runs a statement on a connection of its own. */
export async function queryAt(url: string, sql: string): Promise<string[][]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 10_000,
  });
  // A server that is killed meanwhile rejects the statement, too.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

/** What a server stores, as `id` to `name`. */
export async function plantsOf(
  server: { query(sql: string): Promise<string[][]> },
  table = 'plants',
): Promise<Map<string, string>> {
  return new Map((await server.query(`SELECT id::text, name FROM ${table}`)) as [string, string][]);
}

/** One PostgreSQL server on loopback. */
export class Postgres {
  constructor(
    readonly daemon: Daemon,
    readonly port: number,
    readonly name: string,
  ) {}

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  get dataFolder(): string {
    return join(this.daemon.folder, this.name);
  }

  initialize(): void {
    this.#run(`initdb -D ${this.dataFolder} -A trust -U postgres -E UTF8 --locale=C --no-sync`);
    this.configure("listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", 'max_connections = 50');
  }

  /** Copies a primary that runs, and follows it from then on under this server's name. */
  copy(primary: Postgres): void {
    const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${this.name}`;
    this.#run(`pg_basebackup -D ${this.dataFolder} -R -X stream -c fast --no-sync -d`, from);
  }

  configure(...settings: readonly string[]): void {
    appendFileSync(join(this.dataFolder, 'postgresql.conf'), `${settings.join('\n')}\n`);
  }

  start(): void {
    this.daemon.start(join(postgresPrograms()!, 'postgres'), [
      '-D',
      this.dataFolder,
      '-p',
      String(this.port),
    ]);
  }

  /** Makes a standby the primary, one that waits for no other. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote(true)');
    await this.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await this.query('SELECT pg_reload_conf()');
  }

  query(sql: string): Promise<string[][]> {
    return queryAt(this.url, sql);
  }

  ready(): Promise<unknown> {
    return until(`PostgreSQL on port ${this.port}`, () => {
      if (!this.daemon.isRunning) throw new Error(this.daemon.lastWords);
      return this.query('SELECT 1');
    });
  }

  plants(): Promise<Map<string, string>> {
    return plantsOf(this);
  }

  /**
   * Ends the connections that insert at this moment as an administrator does (57P01), or only their statements (57014);
   * returns how many.
   */
  async killConnections(how: 'pg_terminate_backend' | 'pg_cancel_backend'): Promise<number> {
    const inserting = "state = 'active' AND query LIKE 'INSERT%'";
    return (await this.query(`SELECT ${how}(pid) FROM pg_stat_activity WHERE ${inserting}`)).length;
  }

  /** Resolves while creates are in flight. */
  isAtWork(): Promise<void> {
    return until('an INSERT', async () => {
      const active = await this.query(
        "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'INSERT%'",
      );
      if (active.length === 0) throw new Error('there is none');
    });
  }

  /** Cancels the commits that wait for a standby: they then count as done. Tells how many. */
  async cutWaits(): Promise<number> {
    const waiting = "wait_event = 'SyncRep'";
    return (await this.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ${waiting}`)).length;
  }

  #run(command: string, ...last: readonly string[]): void {
    const [program, ...args] = command.split(' ');
    run(this.daemon.account, join(postgresPrograms()!, program!), [...args, ...last], this.daemon.folder);
  }
}

/** One PostgreSQL that runs. */
export async function onePostgres(): Promise<Postgres> {
  const account = accountOf('postgres')!;
  const port = await freePort();
  const server = new Postgres(new Daemon(account, folderOf(account), 'postgres'), port, 'postgres');
  server.initialize();
  server.start();
  await server.ready();
  return server;
}

/**
 * A primary and a standby that run.
 *
 * @param synchronous the primary confirms a commit only when the standby has it too
 */
export async function primaryAndStandby({
  synchronous,
}: {
  synchronous: boolean;
}): Promise<[Postgres, Postgres]> {
  const account = accountOf('postgres')!;
  const folder = folderOf(account);
  const primary = new Postgres(new Daemon(account, folder, 'primary'), await freePort(), 'primary');
  primary.initialize();
  primary.start();
  await primary.ready();
  const standby = new Postgres(new Daemon(account, folder, 'standby'), await freePort(), 'standby');
  standby.copy(primary);
  standby.start();
  await standby.ready();
  await until('the standby', async () => {
    const [[state] = []] = await primary.query('SELECT state FROM pg_stat_replication');
    if (state !== 'streaming') throw new Error(`the standby is ${state}`);
  });
  if (synchronous) {
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)'");
    await primary.query('SELECT pg_reload_conf()');
    await until('synchronous replication', async () => {
      const [[state] = []] = await primary.query('SELECT sync_state FROM pg_stat_replication');
      if (state !== 'quorum') throw new Error(`the standby is ${state}`);
    });
  }
  return [primary, standby];
}
