import { readdirSync } from 'node:fs';
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
  ) {}

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  get dataFolder(): string {
    return join(this.daemon.folder, 'postgres');
  }

  initialize(): void {
    const { account, folder } = this.daemon;
    const options = `-D ${this.dataFolder} -A trust -U postgres -E UTF8 --locale=C --no-sync`;
    run(account, join(postgresPrograms()!, 'initdb'), options.split(' '), folder);
  }

  start(): void {
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=50'];
    const flags = [`port=${this.port}`, ...settings].flatMap((setting) => ['-c', setting]);
    this.daemon.start(join(postgresPrograms()!, 'postgres'), ['-D', this.dataFolder, ...flags]);
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
}

/** One PostgreSQL that runs. */
export async function onePostgres(): Promise<Postgres> {
  const account = accountOf('postgres')!;
  const port = await freePort();
  const server = new Postgres(new Daemon(account, folderOf(account), 'postgres'), port);
  server.initialize();
  server.start();
  await server.ready();
  return server;
}
