import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A Redis for the tests, in a temporary folder, that writes each command to disk before it replies. */
export class RedisServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'plants-redis-'));
  #child: ChildProcess | undefined;

  /** The socket that it listens on. */
  readonly socket = join(this.#folder, 'redis.sock');

  static async start(): Promise<RedisServer> {
    const server = new RedisServer();
    await server.start();
    return server;
  }

  /** Starts it, again after it was killed, and resolves once it accepts connections. */
  async start(): Promise<void> {
    const settings = { port: '0', unixsocket: this.socket, dir: this.#folder, save: '' };
    const durable = { appendonly: 'yes', appendfsync: 'always' };
    const flags = Object.entries({ ...settings, ...durable }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]);
    const child = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.on('exit', () => reject(new Error(`Redis ended before it was ready:\n${log}`)));
      child.stdout.on('data', (text) => {
        log += text;
        if (log.includes('ready to accept connections')) resolve();
      });
    });
  }

  /** Kills it as a crash would. */
  async kill(): Promise<void> {
    const child = this.#child!;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
