import { linger, nextMessage, Upload } from '../../../src/for-hosts.js';
import type { Exchange } from './exchange.js';
import { awaitsContinue } from './stream.js';
import type { NodeRequest, NodeResponse } from './types.js';

/**
 * Reads the remaining upload, within the limits of `Upload.discard`. To be awaited before the response is sent, on every protocol:
 * many clients and proxies lose a response that comes while they still write, and their connection with it.
 */
export async function drain({ request, response }: Exchange, ms: number): Promise<void> {
  // HTTP/2 shows the end of a body only to a reader; HTTP/1 would read up to 2 MiB before it turns to the next connection.
  if (response.stream) request.resume?.();
  // Usually all of it has come with the headers, and has been parsed when the event loop delivers a message.
  await nextMessage();
  if (request.complete) return void request.resume?.();
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
