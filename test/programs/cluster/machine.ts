import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Machine } from './network.js';

/** An operating system's user: database servers do not run as root. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The account of this name, `undefined` where there is none. */
export function accountOf(name: string): Account | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

/** A new folder of this account alone. Its name says which process it is of, so that the next run finds what a crash left. */
export function folderOf(account: Account): string {
  const folder = mkdtempSync(join(tmpdir(), `plants-${process.pid}-`));
  chownSync(folder, account.uid, account.gid);
  return folder;
}

/** Mounts a small disk of this account on a folder; it is gone with the folder. */
export function mountDisk(folder: string, { uid, gid }: Account, mib: number): void {
  const options = `size=${mib}m,uid=${uid},gid=${gid},mode=700`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
}

/** Removes a folder, and the disk that is mounted on it, if there is one. */
export function removeFolder(folder: string): void {
  spawnSync('umount', ['--lazy', folder]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Where a command runs. Also for its temporary files: a MariaDB that starts deletes those of all others from /tmp. */
const placeOf = (cwd: string) => ({ cwd, env: { PATH: process.env.PATH, LC_ALL: 'C', TMPDIR: cwd } });

/** Runs a command to its end as this account. */
export function run(account: Account, command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { ...account, ...placeOf(cwd), encoding: 'utf8', stdio: 'pipe' });
}

/** A database server, its folder and its log. */
export class Daemon {
  #child: ChildProcess | undefined;
  readonly log: string;

  constructor(
    readonly account: Account,
    readonly folder: string,
    name: string,
    /** Where it runs; by default, where the test does. */
    readonly machine?: Machine,
    /** A process that is the server's, but not its child. */
    readonly other: () => number | undefined = () => undefined,
  ) {
    this.log = join(folder, `${name}.log`);
  }

  /** Starts a command that stays in the foreground. */
  start(command: string, args: readonly string[]): void {
    if (this.isRunning) throw new Error(`${command} is running already`);
    const log = openSync(this.log, 'a');
    // To enter a namespace takes root, so there the account comes after it.
    const [entered, ...entry] = this.machine?.enter(command, this.account) ?? [command];
    this.#child = spawn(entered, [...entry, ...args], {
      ...(this.machine ? {} : this.account),
      ...placeOf(this.folder),
      stdio: ['ignore', log, log],
      // Its own process group: a server's children (PostgreSQL's, the rsync of a Galera transfer) are killed with it.
      detached: true,
    });
    daemons.add(this);
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a signal to the server and to every process that it started; SIGKILL is a power cut. */
  async signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): Promise<void> {
    const child = this.isRunning ? this.#child : undefined;
    const roots = [child?.pid, this.other()].filter((pid) => pid !== undefined);
    for (const root of roots) signalTree(root, signal);
    // One thread takes the signal; until the others have stopped too, they may still respond.
    if (signal === 'SIGSTOP') await until('the stop', () => seeStopped(roots));
    if (signal === 'SIGKILL') {
      if (child && this.isRunning) await once(child, 'exit');
      daemons.delete(this);
    }
  }

  /** The end of the log, for the message of a failure. */
  get lastWords(): string {
    return readFileSync(this.log, 'utf8').split('\n').slice(-30).join('\n');
  }
}

/** Sends a signal to a process and to every process that it started. */
export function signalTree(root: number, signal: NodeJS.Signals): void {
  for (const pid of [root, ...descendants(root)]) {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone meanwhile.
    }
  }
}

/** PostgreSQL gives each of its processes a session, so a signal to the group would reach one of them alone. */
function descendants(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    return children.map(Number).flatMap((child) => [child, ...descendants(child)]);
  } catch {
    return [];
  }
}

/** @throws unless each thread of these processes, and of those that they started, is stopped or has ended */
function seeStopped(roots: readonly number[]): void {
  const pids = roots.flatMap((root) => [root, ...descendants(root)]);
  const running = pids.filter((pid) => !statesOf(pid).every((state) => 'TtZX'.includes(state)));
  if (running.length > 0) throw new Error(`still running: ${running}`);
}

/** The state of each thread of a process, as one letter of proc(5). The name before it, in parentheses, may have spaces. */
function statesOf(pid: number): string[] {
  const stats = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/stat`);
  return stats.map((stat) => readFileSync(stat, 'utf8').split(') ').at(-1)![0]!);
}

const daemons = new Set<Daemon>();

// Whatever becomes of the tests, no server outlives them.
process.on('exit', () => {
  for (const daemon of daemons) void daemon.signal('SIGKILL');
});
for (const end of ['SIGTERM', 'SIGINT', 'disconnect']) process.on(end, () => process.exit(1));

/** Ends every server of the folder and removes it. */
export async function clean(servers: readonly Daemon[], folder: string): Promise<void> {
  await Promise.all(servers.map((server) => server.signal('SIGKILL')));
  removeFolder(folder);
}

/** Resolves when `check` does; an error that it throws means "not yet". */
export async function until<T>(what: string, check: () => Promise<T> | T, ms = 150_000): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw new Error(`${what} did not come within ${ms} ms`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
