import { nextMessage, propertyOf, Upload } from '../../../src/for-hosts.js';
import type { Exchange } from './exchange.js';
import { awaitsContinue } from './stream.js';
import type { NodeRequest, NodeResponse } from './types.js';

/**
 * Reads the first of the remaining upload, to be awaited before the response is sent, and the rest after it: within the limits of `Upload`,
 * on every protocol.
 *
 * @param ms what is left of the request's time
 */
export async function drain({ request, response }: Exchange, ms: number): Promise<void> {
  // HTTP/2 shows the end of a body only to a reader; HTTP/1 would read up to 2 MiB before it turns to the next connection.
  if (response.stream) request.resume?.();
  // Usually all of it has come with the headers, and has been parsed when the event loop delivers a message.
  await nextMessage();
  if (request.complete) return void request.resume?.();
  const chunks = request[Symbol.asyncIterator]();
  const upload = new Upload({ next: () => chunks.next() });
  const isRead = upload.skipFirst(ms);
  // A client that waits for its 100 sends nothing before it has the response.
  if (!awaitsContinue(request, response) && (await isRead)) return;
  if (propertyOf(response, 'stream')) drainStream(response.stream!, upload);
  else drainConnection(request, response, upload);
}

/** Over HTTP/2, reads the rest once the response is sent, and then closes a stream whose upload has not ended. */
function drainStream(stream: NonNullable<NodeResponse['stream']>, upload: Upload): void {
  // Not by the response, whose `finish` comes only after the close.
  afterFinish(stream, async () => {
    if (!(await upload.skipRest())) stream.destroy();
  });
}

/** Over HTTP/1, reads the rest once the response is sent, and then closes the connection, unless another request may follow. */
function drainConnection(request: NodeRequest, response: NodeResponse, upload: Upload): void {
  const { socket } = request;
  const { destroySoon } = socket;
  // Node calls it after the last response of a connection, and a client that still writes would lose that.
  socket.destroySoon = () => socket.end();
  afterFinish(response, async () => {
    if (!(await upload.skipRest())) return request.destroy();
    socket.destroySoon = destroySoon!;
    return socket.writableEnded && socket.destroySoon?.();
  });
}

function afterFinish(
  sent: Pick<NodeResponse, 'on' | 'writableFinished'>,
  task: () => Promise<unknown>,
): void {
  if (sent.writableFinished) task();
  else sent.on('finish', task);
}
