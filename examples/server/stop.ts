import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** How long a client may still send a request on a connection that it keeps: milliseconds. */
const graceMs = 200;

/**
 * Returns a function that stops a server: it completes the requests in flight, and those that still come on connections that clients keep, whose
 * responses close them; accepts no others, and then resolves.
 */
export function stopper(server: Server): () => Promise<void> {
  // Node's own closeIdleConnections() skips connections that never sent a request.
  const connections = new Map<Socket, Set<ServerResponse>>();
  let stopping = false;
  const isIdle = (socket: Socket) => connections.get(socket)?.size === 0;
  const onRequest = ({ socket }: IncomingMessage, response: ServerResponse) => {
    const inFlight = connections.get(socket);
    inFlight?.add(response);
    if (stopping) closeAfter(response);
    response.on('close', () => {
      inFlight?.delete(response);
      if (stopping && isIdle(socket)) socket.end();
    });
  };
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Set());
    socket.on('close', () => connections.delete(socket));
  });
  server.prependListener('request', onRequest);
  server.prependListener('checkContinue', onRequest);
  return async () => {
    stopping = true;
    for (const response of [...connections.values()].flatMap((inFlight) => [...inFlight]))
      closeAfter(response);
    if (connections.size > 0) await setTimeout(graceMs);
    const closed = once(server, 'close');
    server.close();
    for (const socket of connections.keys()) if (isIdle(socket)) socket.destroy();
    await closed;
  };
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
