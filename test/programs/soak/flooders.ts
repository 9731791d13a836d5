// The clients of a flood, in their own process: they send as much as they can until a message stops them.
import { connect, type Socket } from 'node:net';

export interface Flood {
  readonly kind: 'slow heads' | 'idle connections' | 'stalled uploads' | 'uploads' | 'wrong tokens';
  /** How many connections are open at a time. */
  readonly connections: number;
  /** None: no such header is sent. */
  readonly authorization?: string;
  readonly port: number;
}

/** What became of a flood's connections. */
export interface Flooded {
  readonly opened: number;
  /** Connections that the server closed. */
  readonly closed: number;
  /** By the status of the response. */
  readonly answers: Readonly<Record<string, number>>;
}

const { kind, connections, authorization, port } = JSON.parse(process.argv[2] ?? '') as Flood;
const line = 'POST /plants HTTP/1.1\r\n';
const credentials = authorization ? `Authorization: ${authorization}\r\n` : '';
const head = `${line}Host: localhost\r\n${credentials}Content-Type: application/json\r\n`;
const letters = Buffer.alloc(64 * 1024, 'x');

let opened = 0;
let closed = 0;
const answers: Record<string, number> = {};

/** Writes pieces until the connection closes, as fast as the server reads them. */
function pour(socket: Socket, piece: () => Buffer | string): void {
  const writeOn = () => {
    while (socket.writable && socket.write(piece()));
  };
  socket.on('drain', writeOn);
  writeOn();
}

const kinds: Record<Flood['kind'], (socket: Socket) => void> = {
  'slow heads'(socket) {
    socket.write(line);
    const dripping = setInterval(() => socket.writable && socket.write('X'), 100);
    socket.on('close', () => clearInterval(dripping));
  },
  'idle connections'() {},
  'stalled uploads'(socket) {
    socket.write(`${head}Content-Length: 100\r\n\r\n{`);
  },
  uploads(socket) {
    // Chunked, so that no declared length gives it away.
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), letters, Buffer.from('\r\n')]);
    pour(socket, () => chunk);
  },
  'wrong tokens'(socket) {
    const body = '{"id":1,"name":"Rosa canina"}';
    const request = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(request);
    socket.on('data', () => socket.write(request));
  },
};

function open(): void {
  const socket = connect(port, '127.0.0.1', () => {
    opened++;
    kinds[kind](socket);
  });
  socket.on('data', (bytes) => {
    const [, status = 'none'] = /^HTTP\/1\.1 (\d+)/.exec(bytes.toString('latin1')) ?? [];
    answers[status] = (answers[status] ?? 0) + 1;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    closed++;
    open();
  });
}

for (let i = 0; i < connections; i++) open();
process.once('message', () =>
  process.send?.({ opened, closed, answers } satisfies Flooded, () => process.exit()),
);
