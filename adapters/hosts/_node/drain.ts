import { endOfTurn, linger, nextMessage, Upload } from '../../../src/for-hosts.js';
import type { Exchange } from './exchange.js';
import { awaitsContinue } from './stream.js';
import type { NodeRequest, NodeResponse } from './types.js';

/** Drains the remaining upload, so that the client gets the response to it. To be awaited before the response is sent. */
export async function drain({ request, response }: Exchange, ms: number): Promise<void> {
  // All of it may have come with the headers, and is then in the stream: there is nothing to wait for.
  const hasBody = !awaitsContinue(request, response);
  if (hasBody) await nextMessage();
  if (request.complete !== false) return void request.resume?.();
  if (response.stream) return resetAfterResponse(request, response.stream);
  const chunks = request[Symbol.asyncIterator]();
  const cutOff = () => cutOffAfterResponse(request, response);
  const discarding = new Upload({ next: () => chunks.next(), return: cutOff }).discard(ms);
  const isLast =
    response.shouldKeepAlive === false || /\bclose\b/i.test(`${response.getHeader('connection')}`);
  // Node destroys the socket after its last response, which is lost if the client still writes: so read first.
  if (isLast && hasBody) await discarding;
}

/** Leaves the client some time to read the response, and then destroys the connection. */
function cutOffAfterResponse(request: NodeRequest, response: NodeResponse): void {
  const { socket } = request;
  // Node calls it after its last response.
  socket.destroySoon = () => socket.end();
  const cutOff = () => linger().then(() => request.destroy());
  if (response.writableFinished) cutOff();
  else response.on('finish', cutOff);
}

/** HTTP/2 says in a frame that the rest is not needed, and keeps the connection (RFC 9113 §8.1). */
function resetAfterResponse(request: NodeRequest, stream: NonNullable<NodeResponse['stream']>): void {
  // Listen on the stream: the response's `finish` comes only after the close that we are about to make.
  stream.on('finish', async () => {
    // A turn later, because a close at once would overtake the frame that ends the response.
    await endOfTurn();
    stream.close(0);
    // Unread data would keep the stream open.
    request.resume?.();
  });
}
