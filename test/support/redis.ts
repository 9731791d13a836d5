import { join } from 'node:path';
import { type Program, startProgram } from './program.js';
import { newFolder } from './run-folder.js';

/** A Redis for the tests, in a folder of its own, that writes each command to disk before it replies. */
export class RedisServer {
  readonly #folder = newFolder();
  #program: Program | undefined;

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
    this.#program = startProgram(['redis-server', ...flags]);
    await this.#program.printed(/ready to accept connections/);
  }

  /** Kills it as a crash would. */
  async kill(): Promise<void> {
    this.#program?.child.kill('SIGKILL');
    await this.#program?.exit;
  }
}
