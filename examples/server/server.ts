// The evaluation server: `npm start`. Its settings come from the environment; the README lists them.
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { finder, freeId } from './free-id.js';
import { openStorage } from './open-storage.js';
import { evaluationPage } from './page/page.js';

const evaluationToken = 'for-evaluation-only';

start().catch((error: Error) => {
  console.error(`plant-store: ${error.message}`);
  process.exit(1);
});

async function start(): Promise<void> {
  const host = process.env.HOST || '127.0.0.1';
  const port = wholeNumber('PORT', 3000, 0, 65_535);
  const bodyLimit = wholeNumber('BODY_LIMIT', 1_048_576, 1, Number.MAX_SAFE_INTEGER);
  const timeoutMs = wholeNumber('TIMEOUT_MS', 30_000, 0, 2 ** 31 - 1);
  const token = process.env.TOKEN || evaluationToken;
  // A token of your own is a secret: neither the terminal nor the page, which anybody can open, shows it.
  const publicToken = token === evaluationToken ? token : undefined;
  if (publicToken && !isLoopback(host))
    throw new Error(`HOST ${host} is reachable from other machines: set TOKEN to a secret of your own`);
  if (!/^[\w.~+/-]+=*$/.test(token)) throw new Error('TOKEN must be one word of A-Z a-z 0-9 - . _ ~ + /');

  const { storage, place, close } = await openStorage(process.env.DATABASE_URL || 'file:plants.db');
  const mount = toNode(createPlantStore(storage, acceptTokens(token), { bodyLimit, timeoutMs }));
  const find = finder(storage);
  const curlId = await freeId(find);
  // The page never offers the id of the printed curl, so that both work, in either order.
  const page = evaluationPage({ token: publicToken, freeId: () => freeId(find, curlId + 1n) });
  // Node looks for late requests only every 30 s unless it is told otherwise.
  const server = createServer({ connectionsCheckingInterval: 2_000 }, (request, response) =>
    page(request, response, () => mount(request, response)),
  );
  // The reader of the body sends the 100 once it wants it: a refused upload is never sent.
  server.on('checkContinue', mount);
  server.on('checkExpectation', (_request, response) => refuse(response, 417));
  server.on('clientError', refuseUnparsed);
  // After the library's own deadline, so that a stalled upload gets the library's answer.
  server.requestTimeout = timeoutMs && timeoutMs + 5_000;
  server.headersTimeout = Math.min(10_000, server.requestTimeout || 10_000);

  const stop = stopper(server, close);

  // Connections that come at once wait here: one that finds no room tries again only a second later.
  server.listen({ port, host, backlog: 4_096 });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`port ${port} is in use: set PORT to another`) : error;
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  announce(server.address() as AddressInfo, place, curlId, publicToken);
}

function wholeNumber(name: string, otherwise: number, least: number, most: number): number {
  const text = process.env[name];
  if (!text) return otherwise;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw new Error(`${name} must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`);
  }
  return value;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** What Node refuses by itself gets the contract's Error too; its number is the status and two zeros. */
function errorBody(status: number): string {
  return JSON.stringify({ error: status * 100, message: `${STATUS_CODES[status]}.` });
}

function refuse(response: ServerResponse, status: number): void {
  const body = errorBody(status);
  const headers = { 'content-type': 'application/json', 'content-length': body.length, connection: 'close' };
  response.writeHead(status, headers).end(body);
}

/** For bytes that are no HTTP request there is no response object, only the socket. */
function refuseUnparsed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const statuses: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  const status = statuses[error.code ?? ''] ?? 400;
  const body = errorBody(status);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body);
}

/**
 * Makes the function that stops a server: it answers what is in flight, takes nothing new, and lets the storage go
 * last. A second signal ends at once.
 */
function stopper(server: Server, closeStorage: () => Promise<void>): () => Promise<void> {
  // Node's own closeIdleConnections() passes over connections that never sent a request.
  const inFlight = new Map<Socket, number>();
  let stopping = false;
  const count = (socket: Socket, change: number) => {
    const requests = (inFlight.get(socket) ?? 0) + change;
    if (!socket.destroyed) inFlight.set(socket, requests);
    if (stopping && requests === 0) socket.end();
  };
  const onRequest = ({ socket }: IncomingMessage, response: ServerResponse) => {
    count(socket, 1);
    response.on('close', () => count(socket, -1));
  };
  server.on('connection', (socket: Socket) => {
    count(socket, 0);
    socket.on('close', () => inFlight.delete(socket));
  });
  server.prependListener('request', onRequest);
  server.prependListener('checkContinue', onRequest);
  return async () => {
    stopping = true;
    const closed = once(server, 'close');
    server.close();
    for (const [socket, requests] of inFlight) if (requests === 0) socket.destroy();
    await closed;
    await closeStorage();
    process.exit(0);
  };
}

function announce({ address, port, family }: AddressInfo, place: string, id: bigint, token?: string): void {
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  const authorization = token ? `'Authorization: Bearer ${token}'` : '"Authorization: Bearer $TOKEN"';
  console.log(`plant-store is listening on ${url}
  token    ${token ?? 'yours, from TOKEN'}
  plants   ${place}

Open ${url} in a browser, or create a plant here:

  curl -i ${url}/plants -H ${authorization} -H 'Content-Type: application/json' -d '{"id":${id},"name":"Rosa canina","tag":"shrub"}'
`);
}
