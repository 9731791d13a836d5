import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** One address for the current primary, as HAProxy or a pooler gives it. */
export class Doorway {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #target: number;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client, connect(this.#target, '127.0.0.1')));
  }

  static async before(port: number): Promise<Doorway> {
    const doorway = new Doorway(port);
    await once(doorway.#server.listen(0, '127.0.0.1'), 'listening');
    return doorway;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Leads to another server from now on, and cuts the connections to the old server. */
  leadTo(port: number): void {
    this.#target = port;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, server: Socket): void {
    for (const [from, to] of [[client, server] as const, [server, client] as const]) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on('error', () => {});
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
