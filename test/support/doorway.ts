import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';

/** Another address for a server, on loopback, whose network can vanish. */
export class Doorway {
  /** Sees what a client sends, before the server does. */
  onRequest = (_request: Buffer, _client: Socket): void => {};
  /** Passes on what the server sent, or does something else with it. */
  onAnswer = (answer: Buffer, client: Socket): void => void client.write(answer);
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isOpen = true;
  #port = 0;
  /** Counts outages: a connection that met one stays dead after it. */
  #outages = 0;

  private constructor(private target: NetConnectOpts) {
    this.#server = createServer((client) => this.#join(client, connect(this.target)));
  }

  static async before(target: NetConnectOpts): Promise<Doorway> {
    const doorway = new Doorway(target);
    await doorway.reopen();
    doorway.#port = (doorway.#server.address() as { port: number }).port;
    return doorway;
  }

  get port(): number {
    return this.#port;
  }

  /** New connections lead to another server; those that there are keep theirs. */
  leadTo(target: NetConnectOpts): void {
    this.target = target;
  }

  /** From now on connections are accepted, and bytes are swallowed, without a RST or a FIN. */
  vanish(): void {
    this.#isOpen = false;
    this.#outages++;
  }

  /** New connections work again. */
  heal(): void {
    this.#isOpen = true;
  }

  /** Connections are ended, and new ones refused. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Listens again where it did, after `close`. */
  async reopen(): Promise<void> {
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
  }

  #join(client: Socket, server: Socket): void {
    const outages = this.#outages;
    const wasDead = !this.#isOpen;
    const isDead = () => wasDead || !this.#isOpen || outages !== this.#outages;
    client.on('data', (bytes) => {
      if (isDead()) return;
      this.onRequest(bytes, client);
      server.write(bytes);
    });
    server.on('data', (bytes) => isDead() || this.onAnswer(bytes, client));
    for (const [from, to] of [[client, server] as const, [server, client] as const]) {
      this.#sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        this.#sockets.delete(from);
        if (!isDead()) to.destroy();
      });
    }
  }
}
