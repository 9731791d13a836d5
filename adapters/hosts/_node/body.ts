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
  // Never removed: an error that nobody hears would end the process. Remembered, because not each one destroys the stream.
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
  const { request } = exchange;
  // On HTTP/2 an aborted request looks ended and complete: check `aborted` first.
  if (request.aborted || (request.destroyed && !request.readableEnded))
    throw new BodyError('body_incomplete');
  // Some platforms pass an object that is no stream.
  if (typeof request.read !== 'function') return keptBytes(exchange) ?? keptBody(exchange) ?? '';
  if (request.readableEnded) return readEnded(exchange, limit);
  if (!request.readableDidRead) return readUnread(exchange, limit);
  // Not `keptBytes`: a middleware is still reading, and may have kept a part only.
  return keptBody(exchange) ?? throwLost();
}

/** Reads a stream from which nobody has read. */
function readUnread(exchange: Exchange, limit: number): ReturnType<ReadBody> {
  const { request, response } = exchange;
  if (!isWhole(exchange)) return readStream(request, response, limit);
  exchange.isRead = true;
  const bytes = readWaiting(request, limit);
  if (isShort(bytes, request)) throw new BodyError('body_incomplete');
  return bytes;
}

/** Finds the body of a stream that has ended. */
function readEnded(exchange: Exchange, limit: number): ReturnType<ReadBody> {
  const { request } = exchange;
  // What a platform has put back into the stream, as Vercel does by a `read` of its own.
  const left = readWaiting(request, limit);
  if (left.length > 0) return left;
  const bytes = keptBytes(exchange);
  if (bytes !== undefined) return bytes;
  // It ended with nothing to read.
  if (!request.readableDidRead) return '';
  return keptBody(exchange) ?? throwLost();
}

/** The bytes that somebody has kept as `rawBody`. */
function keptBytes(exchange: Exchange): Uint8Array | string | undefined {
  const rawBody = readKept(exchange, 'rawBody');
  if (typeof rawBody === 'string') return requireLossless(rawBody);
  return isBytes(rawBody) ? rawBody : undefined;
}

/** What a body parser has left as `body`: the bytes, their text, or the value that it has parsed. */
function keptBody(exchange: Exchange): Uint8Array | string | { parsed: unknown } | undefined {
  const body = readKept(exchange, 'body');
  if (isBytes(body)) return body;
  if (typeof body === 'string' && isUnparsed(body, exchange.request)) return requireLossless(body);
  return body === undefined ? undefined : { parsed: body };
}

/** A stream that was read never ends again: to wait would hang. */
function throwLost(): never {
  throw new BodyError('body_unreadable', lostBody);
}

/** What a body parser of this host has left, or one in front of it: Koa can be inside of Express, or on a platform. */
function readKept({ parsed, request }: Exchange, name: 'body' | 'rawBody'): unknown {
  return readProperty(parsed, name) ?? (parsed === request ? undefined : readProperty(request, name));
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
  // The text may lack 3 bytes of the body: a byte order mark that the parser has removed. A plant in a JSON string has lost more: two
  // quotes, and a backslash for each quote in it.
  return declared === undefined || Number(declared) - Buffer.byteLength(text) <= 3;
}
