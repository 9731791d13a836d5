import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy of a network that can vanish: bytes are then swallowed, without a RST or a FIN. */
export class BlackHole {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isOpen = true;
  /** Counts outages: a connection that met one stays dead after it. */
  #outages = 0;

  private constructor(target: { path: string } | { host: string; port: number }) {
    this.#server = createServer((inside) => {
      const outages = this.#outages;
      const isDead = () => !this.#isOpen || outages !== this.#outages || wasDead;
      const wasDead = !this.#isOpen;
      const outside = connect(target);
      for (const [from, to] of [
        [inside, outside],
        [outside, inside],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (bytes) => isDead() || to.write(bytes));
        from.on('error', () => {});
        from.on('close', () => {
          this.#sockets.delete(from);
          if (!isDead()) to.destroy();
        });
      }
    });
  }

  static async before(target: { path: string } | { host: string; port: number }): Promise<BlackHole> {
    const hole = new BlackHole(target);
    hole.#server.listen(0, '127.0.0.1');
    await once(hole.#server, 'listening');
    return hole;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** From now on connections are accepted, and nothing passes. */
  vanish(): void {
    this.#isOpen = false;
    this.#outages++;
  }

  /** New connections work again. */
  heal(): void {
    this.#isOpen = true;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
