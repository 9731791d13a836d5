import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Returns a function that stops a server: it completes the requests in flight, accepts no others, and then resolves. */
export function stopper(server: Server): () => Promise<void> {
  // Node's own closeIdleConnections() skips connections that never sent a request.
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
  };
}
