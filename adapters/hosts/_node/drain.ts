import { lingerMs, Upload } from '../../../src/for-hosts.js';
import { awaitsContinue } from './body.js';
import type { NodeRequest, NodeResponse } from './types.js';

const { setImmediate, setTimeout } = globalThis;

/**
 * Takes care of what is left of an upload, so that the client gets the answer to it. To be called before the answer is
 * sent. Returns a promise if the answer has to wait for it.
 */
export function drain(request: NodeRequest, response: NodeResponse): Promise<unknown> | undefined {
  // All of it has come, and what was not read of it is in the stream: there is nothing to wait for.
  if (request.complete !== false) return void request.resume();
  if (response.stream) return resetAfterAnswer(request, response.stream);
  const chunks = request[Symbol.asyncIterator]();
  const cutOff = () => cutOffAfterAnswer(request, response);
  const discarding = new Upload({ next: () => chunks.next(), return: cutOff }).discard();
  // Node destroys the socket after its last answer, which is lost if the client still writes: so read first.
  return isLastAnswer(response) && !awaitsContinue(request, response) ? discarding : undefined;
}

/** Leaves the client some time to read the answer, and then destroys the connection. */
function cutOffAfterAnswer(request: NodeRequest, response: NodeResponse): void {
  const { socket } = request;
  // Node calls it after its last answer.
  socket.destroySoon = () => socket.end();
  const cutOff = () => void setTimeout(() => request.destroy(), lingerMs);
  if (response.writableFinished) cutOff();
  else response.on('finish', cutOff);
}

/** HTTP/2 says in a frame that the rest is not needed, and keeps the connection (RFC 9113 §8.1). */
function resetAfterAnswer(request: NodeRequest, stream: NonNullable<NodeResponse['stream']>): undefined {
  // Listen on the stream: the response's `finish` comes only after the close that we are about to make.
  stream.on('finish', () => {
    // A turn later, because a close at once would overtake the frame that ends the answer.
    setImmediate(() => {
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
