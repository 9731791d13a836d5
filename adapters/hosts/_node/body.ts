import { isBytes, nextMessage } from '../../../src/for-hosts.js';
import { BodyError, type ReadBody } from '../../../src/index.js';
import type { Exchange } from './exchange.js';
import { isShort, isWhole, readStream, readWaiting, requireLossless } from './stream.js';
import type { NodeRequest } from './types.js';

/** Reads the body: at once if all of it is there, otherwise once Node has parsed the packet that it comes in. */
export function readNodeBody(exchange: Exchange, limit: number): ReturnType<ReadBody> {
  const { request } = exchange;
  if (request.complete !== false || isWhole(exchange)) return readExact(exchange, limit);
  let isBroken = false;
  // Stays: an error that nobody hears would end the process. Not each one destroys the stream.
  request.on('error', () => {
    isBroken = true;
  });
  return nextMessage().then(() => {
    if (isBroken) throw new BodyError('body_incomplete');
    return readExact(exchange, limit);
  });
}

/** Reads the body from the first place that still has it exactly. */
function readExact(exchange: Exchange, limit: number): ReturnType<ReadBody> {
  const { request, response, parsed } = exchange;
  // On HTTP/2 an aborted request looks ended and complete: check `aborted` first.
  if (request.aborted || (request.destroyed && !request.readableEnded))
    throw new BodyError('body_incomplete');
  const isStream = typeof request.read === 'function';
  if (isStream && !request.readableDidRead && !request.readableEnded) {
    exchange.isRead = isWhole(exchange);
    if (!exchange.isRead) return readStream(request, response, limit);
    const bytes = readWaiting(request, limit);
    if (isShort(bytes, request)) throw new BodyError('body_incomplete');
    return bytes;
  }
  const isEnded = !isStream || request.readableEnded;
  // What a platform has put back into a stream that has ended, as Vercel does by a `read` of its own.
  const left = isStream && isEnded ? readWaiting(request, limit) : undefined;
  if (left?.length) return left;
  // Until the stream has ended, a middleware may still be adding to it.
  const rawBody = isEnded ? readProperty(parsed, 'rawBody') : undefined;
  if (isBytes(rawBody)) return rawBody;
  if (typeof rawBody === 'string') return requireLossless(rawBody);
  // A stream that was read never ends again: waiting would hang.
  if (isStream && !request.readableDidRead) return '';
  const body = readProperty(parsed, 'body');
  if (isBytes(body)) return body;
  if (typeof body === 'string' && isUnparsed(body, request)) return requireLossless(body);
  if (body !== undefined) return { parsed: body };
  if (!isStream) return '';
  throw new BodyError('body_unreadable', lostBody);
}

/** What a body parser or a platform has left. A getter that parses when it is read throws if the body is not JSON. */
function readProperty(parsed: object, name: string): unknown {
  try {
    return (parsed as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

const lostBody =
  'request body already consumed: register plant-store before body parsers and loggers, or keep the raw bytes: express.json({ verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }) })';

/** Whether a string is the body's text, and not the value of a body that was one JSON string. */
function isUnparsed(text: string, { headers }: NodeRequest): boolean {
  const declared = headers['content-length'];
  // A parser may have removed a byte order mark, which has 3 bytes; a JSON string has more quotes and escapes.
  return declared === undefined || Number(declared) - Buffer.byteLength(text) <= 3;
}
