import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens a TCP connection on the loopback that sends each write at once. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

/** A connection whose received bytes can be waited for. */
export class Connection {
  /** Settles when the connection is closed, by either side and in any way. */
  readonly closed: Promise<void>;
  readonly socket: Socket;
  /** What was received and not taken yet. */
  protected received = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.#wake();
    });
    // Ignored, because a server may close with a reset.
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#ended = true;
        this.#wake();
        resolve();
      });
    });
  }

  destroy(): void {
    this.socket.destroy();
  }

  /**
   * Waits until `found` returns something. Rejects if the connection closes before.
   *
   * @param what the awaited event, for the error message
   */
  protected async until<T>(what: string, found: () => T | undefined): Promise<T> {
    for (;;) {
      const value = found();
      if (value !== undefined) return value;
      if (this.#ended) {
        throw new Error(`the connection closed before ${what}, after ${JSON.stringify(`${this.received}`)}`);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
