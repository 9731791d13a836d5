// What the demo server rejects before the library sees it, with the contract's Error as its body.
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** The error code of a status that the contract does not name: the status and two zeros. */
const codeOf = (status: number) => status * 100;

function errorBody(status: number, message = `${STATUS_CODES[status]}.`, error = codeOf(status)): string {
  return JSON.stringify({ error, message });
}

export function refuse(response: ServerResponse, status: number, message?: string): void {
  const body = errorBody(status, message);
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  response.writeHead(status, headers).end(body);
}

/** Answers what Node would reject with an empty body, or without any response. */
export function refuseInWords(server: Server): void {
  server.on('checkExpectation', (_request, response) => refuse(response, 417));
  server.on('clientError', refuseUnparsed);
  // A connection that ends while a request of it is open, ends in the midst of its body.
  for (const event of ['request', 'checkContinue'])
    server.prependListener(event, ({ socket }: IncomingMessage, response: ServerResponse) => {
      open.add(socket);
      response.once('close', () => open.delete(socket));
    });
  server.on('connect', (_request, socket) => refuseOn(socket, 501));
}

/** The connections of which a request is open. */
const open = new WeakSet<Duplex>();

function refuseUnparsed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const isCut = error.code === 'HPE_INVALID_EOF_STATE' && open.has(socket);
  const statuses: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  const status = statuses[error.code ?? ''] ?? 400;
  refuseOn(socket, status, isCut ? bodyIncomplete : errorBody(status));
}

const bodyIncomplete = errorBody(
  400,
  'The body did not arrive in full. Nothing was stored; try again.',
  40007,
);

/** Where there is no response object, only the socket. */
function refuseOn(socket: Duplex, status: number, body = errorBody(status)): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  // A client that disconnects now gets no response, and needs none.
  socket.on('error', () => {});
  socket.end(head + body);
}

/**
 * Rejects a request whose Host is missing, ambiguous or no host (RFC 9112 §3.2) and, with `loopbackOnly`, one to any other name
 * than the machine's own: a page of another site whose name resolves to 127.0.0.1 (DNS rebinding) would read the token.
 */
export function refuseHost(
  request: IncomingMessage,
  response: ServerResponse,
  { loopbackOnly }: { loopbackOnly: boolean },
): boolean {
  const { httpVersion, headersDistinct, url = '' } = request;
  const hosts = headersDistinct.host ?? [];
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) {
    refuse(response, 400, 'Send exactly one Host header.');
    return true;
  }
  // A target in absolute form has a host of its own.
  const [, inTarget] = /^\w+:\/\/([^/?#]*)/.exec(url) ?? [];
  const names = inTarget === undefined ? hosts : [...hosts, inTarget];
  if (loopbackOnly && !names.every((host) => isLoopback(host.replace(/:\d*$/, '')))) {
    refuse(
      response,
      421,
      'The public token is for localhost only. To serve other host names, set TOKEN to a secret value.',
    );
    return true;
  }
  if (hosts.every((host) => isHost.test(host))) return false;
  refuse(response, 400, 'The Host header must be a host name or an address, with or without a port.');
  return true;
}

/** A host and a port, as RFC 3986 writes them. */
const isHost = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(:\d*)?$/i;

/** Whether a host name always means the machine itself. */
export function isLoopback(host: string): boolean {
  return /^(localhost\.?|\[?::1\]?|127(\.\d{1,3}){3})$/i.test(host);
}
