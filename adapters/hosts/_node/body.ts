import { ChunkCollector, isBytes, nextMessage } from '../../../src/for-hosts.js';
import { BodyError, type ReadBody } from '../../../src/index.js';
import type { Exchange } from './exchange.js';
import type { NodeRequest, NodeResponse } from './types.js';

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
    return (request.read() as Uint8Array | null) ?? '';
  }
  const isEnded = !isStream || request.readableEnded;
  const left = isStream && isEnded ? readUnshifted(request, limit) : undefined;
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

/** What a platform has put back into a stream that has ended, as Vercel does by a `read` of its own. */
function readUnshifted(request: NodeRequest, limit: number): Uint8Array {
  const chunks = new ChunkCollector(limit);
  for (let chunk = request.read(); chunk !== null; chunk = request.read()) chunks.add(chunk);
  return chunks.join();
}

const lostBody =
  'request body already consumed: register plant-store before body parsers and loggers, or keep the raw bytes: express.json({ verify: (request, _response, bytes) => { request.rawBody = bytes } })';

/** Whether a string is the body's text, and not the value of a body that was one JSON string. */
function isUnparsed(text: string, { headers }: NodeRequest): boolean {
  const declared = headers['content-length'];
  // A parser may have removed a byte order mark, which has 3 bytes; a JSON string has more quotes and escapes.
  return declared === undefined || Number(declared) - Buffer.byteLength(text) <= 3;
}

/** Text that was decoded from UTF-8. U+FFFD may stand for bytes that were no UTF-8. */
function requireLossless(text: string): string {
  if (text.includes('\ufffd')) throw new BodyError('body_unreadable', lostBytes);
  return text;
}

const lostBytes =
  'request body already decoded, and may have lost bytes: register plant-store before whatever calls setEncoding or keeps the body as text';

/**
 * Whether the stream has the whole body, and no listener, encoding or 100-continue stands in the way. Usually it has when
 * the token is verified, but Node parses the end of the message only after microtasks: so compare the declared length.
 */
function isWhole({ request, response }: Exchange): boolean {
  const { headers } = request;
  const isUntouched =
    request.readableFlowing === null && request.readableEncoding === null && !request.readableDidRead;
  if (!isUntouched || response.stream || headers.expect !== undefined) return false;
  if (request.complete) return true;
  return !headers['transfer-encoding'] && request.readableLength === Number(headers['content-length']);
}

/** Every listener and every way to end is a function with a name, which a stack trace shows. */
function readStream(request: NodeRequest, response: NodeResponse, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks = new ChunkCollector(limit);
    const listeners = { data: onData, readable: onReadable, end: onEnd, close: onCut };
    let isReading = true;
    // Stays: an error that nobody hears would end the process.
    request.on('error', onCut);
    for (const [event, listener] of Object.entries(listeners)) request.on(event, listener);
    if (awaitsContinue(request, response)) response.writeContinue();
    // Not `resume`: the stream does not flow if somebody in front listens to `readable`.
    onReadable();

    /** Called for every chunk, also if somebody else's `readable` listener takes it. */
    function onData(chunk: Uint8Array | string) {
      try {
        chunks.add(typeof chunk === 'string' ? bytesOf(chunk, request.readableEncoding) : chunk);
      } catch (error) {
        fail(error);
      }
    }

    function onReadable() {
      while (isReading && request.read() !== null);
    }

    function onEnd() {
      if (request.aborted) return onCut();
      stopListening();
      resolve(chunks.join());
    }

    /** A client that vanishes makes an `error`, or only a `close`. */
    function onCut() {
      fail(new BodyError('body_incomplete'));
    }

    function fail(error: unknown) {
      stopListening();
      request.pause();
      reject(error);
    }

    function stopListening() {
      isReading = false;
      for (const [event, listener] of Object.entries(listeners)) request.off(event, listener);
    }
  });
}

/** The bytes of a chunk that the stream has decoded, because somebody called setEncoding. */
function bytesOf(text: string, encoding: string | null): Uint8Array {
  if (encoding === 'utf8') requireLossless(text);
  // ASCII drops the eighth bit, UTF-16 the last of an odd number of bytes.
  else if (encoding === 'ascii' || encoding === 'utf16le') throw new BodyError('body_unreadable', lostBytes);
  return Buffer.from(text, encoding as BufferEncoding);
}

/** Whether the client waits for a 100 that has not been sent, as under a `checkContinue` listener. */
export function awaitsContinue({ headers }: NodeRequest, response: NodeResponse): boolean {
  const sent = response._sent100 || response.stream?.sentInfoHeaders?.length;
  return !sent && /^100-continue$/i.test(String(headers.expect));
}
