import { linger, nextMessage, Upload } from '../../../src/for-hosts.js';
import type { Exchange } from './exchange.js';
import { awaitsContinue } from './stream.js';
import type { NodeRequest, NodeResponse } from './types.js';

/**
 * Reads the remaining upload, within the limits of `Upload.discard`. To be awaited before the response is sent, on every protocol:
 * many clients and proxies lose a response that comes while they still write, and their connection with it.
 */
export async function drain({ request, response }: Exchange, ms: number): Promise<void> {
  // Usually all of it has come with the headers, and is gone when the event loop delivers a message.
  request.resume?.();
  await nextMessage();
  if (request.complete) return;
  const chunks = request[Symbol.asyncIterator]();
  const discarding = new Upload({ next: () => chunks.next() })
    .discard(ms)
    .then((isRead) => isRead || cutOffAfterResponse(request, response));
  // A client that waits for its 100 sends nothing before it has the response.
  if (!awaitsContinue(request, response)) await discarding;
}

/** Leaves the client some time to read the response, and then ends the upload: on HTTP/1 with its connection. */
function cutOffAfterResponse(request: NodeRequest, response: NodeResponse): void {
  const { socket } = request;
  // Node calls it after the last response of a connection, and a client that still writes would lose that.
  if (!response.stream) socket.destroySoon = () => socket.end();
  // Not the response of HTTP/2, whose `finish` comes only after the close that we are about to make.
  const sent = response.stream ?? response;
  const cutOff = () => linger().then(() => (response.stream ?? request).destroy());
  if (sent.writableFinished) cutOff();
  else sent.on('finish', cutOff);
}
