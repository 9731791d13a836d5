import { Gathered } from '../../../src/body.js';
import { isBytes } from '../../../src/http.js';
import { BodyError, type ReadBody } from '../../../src/index.js';
import type { NodeRequest, NodeResponse, ParsedBody } from './types.js';

/** Reads the body from the first place that still has it exactly. */
export function readNodeBody(
  request: NodeRequest,
  response: NodeResponse,
  { body, rawBody }: ParsedBody,
  limit: number,
): ReturnType<ReadBody> {
  if (typeof rawBody === 'string' || isBytes(rawBody)) return rawBody;
  // On HTTP/2 an aborted request looks ended and complete: check `aborted` first.
  if (request.aborted) throw new BodyError('body_incomplete');
  // A stream that was read never ends again: waiting for it would hang.
  if (!request.readableDidRead) {
    if (request.readableEnded) return '';
    return bufferedBody(request, response, limit) ?? readStream(request, response, limit);
  }
  if (typeof body === 'string' || isBytes(body)) return body;
  if (body !== undefined) return { parsed: body };
  throw new BodyError('body_unreadable', lostBody);
}

const lostBody =
  'the request body was read before plant-store: mount plant-store above whatever reads it (body parsers, loggers), or keep its bytes as rawBody, as in express.json({ verify: (request, _response, bytes) => { request.rawBody = bytes } })';

/** The whole body if it is already buffered, and no listener, encoding or 100-continue stands in the way. */
function bufferedBody(request: NodeRequest, response: NodeResponse, limit: number): Uint8Array | undefined {
  const isThere = request.complete && !response.stream && request.readableLength <= limit;
  const isPlain = request.readableFlowing === null && request.readableEncoding === null;
  if (!isThere || !isPlain || request.headers.expect !== undefined) return undefined;
  return (request.read() ?? Buffer.alloc(0)) as Uint8Array;
}

function readStream(request: NodeRequest, response: NodeResponse, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const gathered = new Gathered(limit);
    let reading = true;
    const onData = (chunk: Uint8Array | string) => {
      try {
        // A string: somebody has called setEncoding.
        const encoding = (request.readableEncoding ?? 'utf8') as BufferEncoding;
        gathered.add(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
      } catch (error) {
        stop(error);
      }
    };
    const stop = (error: unknown) => {
      if (!reading) return;
      reading = false;
      request.off('data', onData);
      request.pause();
      reject(error);
    };
    const onCut = () => stop(new BodyError('body_incomplete'));
    request.on('data', onData);
    request.on('end', () => {
      if (request.aborted) return onCut();
      reading = false;
      resolve(gathered.join());
    });
    // A vanished client emits `error` or only `close`. `close` also follows every `end`; then `stop` does nothing.
    request.on('error', onCut);
    request.on('close', onCut);
    if (awaitsContinue(request, response)) response.writeContinue();
  });
}

/** Whether the client waits for a 100 that has not been sent, as under a `checkContinue` listener. */
function awaitsContinue({ headers }: NodeRequest, response: NodeResponse): boolean {
  const sent = response._sent100 || response.stream?.sentInfoHeaders?.length;
  return !sent && /^100-continue$/i.test(String(headers.expect));
}
