import { endOfTurn, lingerMs, Upload, wait } from '../../../src/for-hosts.js';
import { awaitsContinue, packetParsed } from './body.js';
import type { NodeRequest, NodeResponse } from './types.js';

/**
 * Takes care of what is left of an upload, so that the client gets the response to it. To be awaited before the response
 * is sent.
 */
export function drain(request: NodeRequest, response: NodeResponse): Promise<void> | undefined {
  if (request.complete !== false) return void (request.resume as (() => unknown) | undefined)?.();
  return drainUpload(request, response);
}

async function drainUpload(request: NodeRequest, response: NodeResponse): Promise<void> {
  // All of it may have come with the headers, and is then in the stream: there is nothing to wait for.
  const hasBody = !awaitsContinue(request, response);
  if (hasBody) await packetParsed();
  if (request.complete !== false) return void request.resume();
  if (response.stream) return resetAfterAnswer(request, response.stream);
  const chunks = request[Symbol.asyncIterator]();
  const cutOff = () => cutOffAfterAnswer(request, response);
  const discarding = new Upload({ next: () => chunks.next(), return: cutOff }).discard();
  // Node destroys the socket after its last response, which is lost if the client still writes: so read first.
  if (isLastAnswer(response) && hasBody) await discarding;
}

/** Leaves the client some time to read the answer, and then destroys the connection. */
function cutOffAfterAnswer(request: NodeRequest, response: NodeResponse): void {
  const { socket } = request;
  // Node calls it after its last answer.
  socket.destroySoon = () => socket.end();
  const cutOff = () => wait(lingerMs).then(() => request.destroy());
  if (response.writableFinished) cutOff();
  else response.on('finish', cutOff);
}

/** HTTP/2 says in a frame that the rest is not needed, and keeps the connection (RFC 9113 §8.1). */
function resetAfterAnswer(request: NodeRequest, stream: NonNullable<NodeResponse['stream']>): void {
  // Listen on the stream: the response's `finish` comes only after the close that we are about to make.
  stream.on('finish', () => {
    // A turn later, because a close at once would overtake the frame that ends the answer.
    endOfTurn().then(() => {
      stream.close(0);
      // Unread data would keep the stream open.
      request.resume();
    });
  });
}

/** Whether Node closes the connection after this answer. */
function isLastAnswer(response: NodeResponse): boolean {
  return response.shouldKeepAlive === false || /\bclose\b/i.test(String(response.getHeader('connection')));
}
