/** Servers on free ports, and a client that speaks HTTP/1.1 byte by byte. */
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { Connection, openSocket } from './connection.js';

/** A server on a free port of the loopback. */
export interface Running {
  /** Where the mount is; `h2c:` stands for HTTP/2 without TLS. */
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Cuts all open connections. */
  readonly close: () => Promise<void>;
}

/** Lets a server listen, unless it does. */
export async function listen(server: Server, protocol = 'http:', path = ''): Promise<Running> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${protocol}//127.0.0.1:${port}${path}`,
    port,
    server,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The path of a mount, before `/plants`; `''` at the root. */
export const mountOf = (url: string): string => new URL(url).pathname.replace(/\/$/, '');

/** One response on the wire. */
export interface WireAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Map<string, string>;
  readonly text: string;
}

/** A connection that writes exactly the given bytes, and reads the responses in their order. */
export class Wire extends Connection {
  static async open(port: number): Promise<Wire> {
    return new Wire(await openSocket(port));
  }

  /** Resolves with `true` when the kernel has taken the bytes, with `false` if the connection is closed. */
  write(data: string | Uint8Array): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.socket.destroyed) resolve(false);
      else this.socket.write(data, (error) => resolve(!error));
    });
  }

  /** Everything that was received and not returned yet. */
  get rest(): string {
    return this.received.toString();
  }

  /** The next response; a 1xx counts. */
  async answer({ bodyless = false } = {}): Promise<WireAnswer> {
    const end = await this.until('the end of the head', () => {
      const index = this.received.indexOf('\r\n\r\n');
      return index < 0 ? undefined : index;
    });
    const [statusLine = '', ...lines] = this.#take(end + 4)
      .trimEnd()
      .split('\r\n');
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(statusLine.split(' ')[1]);
    const hasBody = !bodyless && status >= 200;
    if (hasBody && headers.get('transfer-encoding') === 'chunked')
      return { status, headers, text: await this.#chunks() };
    const length = hasBody ? Number(headers.get('content-length') ?? 0) : 0;
    await this.until('the end of the body', () => (this.received.length >= length ? length : undefined));
    return { status, headers, text: this.#take(length) };
  }

  /** The text of a chunked body, without trailers. */
  async #chunks(): Promise<string> {
    let text = '';
    for (;;) {
      const [line, length] = await this.until('the end of a chunk', () => {
        const [line, size] = /^([0-9a-f]+)\r\n/i.exec(this.received.toString('latin1')) ?? [];
        if (!line || this.received.length < line.length + parseInt(size!, 16) + 2) return undefined;
        return [line.length, parseInt(size!, 16)] as const;
      });
      text += this.#take(line + length + 2).slice(line, -2);
      if (length === 0) return text;
    }
  }

  #take(length: number): string {
    const taken = this.received.subarray(0, length).toString();
    this.received = this.received.subarray(length);
    return taken;
  }
}

/** The text of a request. The right `content-length` is added if neither it nor a transfer coding is given. */
export function raw(
  headers: readonly string[],
  body = '',
  { line = 'POST /plants HTTP/1.1' }: { line?: string } = {},
): string {
  const framed = headers.some((header) => /^(content-length|transfer-encoding):/i.test(header));
  const length = framed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [line, 'Host: localhost', ...headers, ...length, '', body].join('\r\n');
}

/** One chunk of a chunked body. */
export function chunk(data: string | Uint8Array): Buffer {
  const bytes = Buffer.from(data as Uint8Array);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const lastChunk = '0\r\n\r\n';
