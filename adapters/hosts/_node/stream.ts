import { ChunkCollector, isBytes } from '../../../src/for-hosts.js';
import { BodyError } from '../../../src/index.js';
import type { Exchange } from './exchange.js';
import type { NodeRequest, NodeResponse } from './types.js';

/**
 * Whether a stream of which nobody has read has the whole body, and no listener, encoding or 100-continue stands in the way. Usually
 * it has when the token is verified, but Node parses the end of the message only after microtasks: so compare the declared length.
 */
export function isWhole(request: NodeRequest, response: NodeResponse): boolean {
  const { headers, readableFlowing, readableEncoding } = request;
  if (readableFlowing !== null || readableEncoding !== null) return false;
  if (response.stream || headers.expect !== undefined) return false;
  if (request.complete) return true;
  return !headers['transfer-encoding'] && request.readableLength === Number(headers['content-length']);
}

/**
 * Reads all that waits in the stream. Usually that is one chunk. One `read()` may return one buffer of several: from Node 26 on it
 * does, and so do Bun and Deno.
 */
export function readWaiting(request: NodeRequest, limit: number): Uint8Array {
  const waiting = request.readableLength;
  let chunk = request.read();
  // A chunk as long as what waited is the whole body, which needs neither a second `read()` nor a collector.
  if (isBytes(chunk) && chunk.byteLength === waiting && waiting <= limit)
    // A view, as the collector makes: a guard would otherwise get a Buffer of some bodies, whose `slice` and `toString` are others.
    return new Uint8Array(chunk.buffer, chunk.byteOffset, waiting);
  const chunks = new ChunkCollector(limit);
  for (; chunk !== null; chunk = request.read()) chunks.add(chunk);
  return chunks.join();
}

/** Whether the client declared more bytes than were read: a host or a middleware may have taken a part of the body. */
export function isShort(bytes: Uint8Array, { headers }: NodeRequest): boolean {
  return bytes.length < Number(headers['content-length']);
}

/**
 * Reads the stream to its end. Every listener and every way to end is a function with a name, which a stack trace shows.
 */
export function readStream({ request, response }: Exchange, limit: number): Promise<Uint8Array> {
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
      const bytes = chunks.join();
      if (isShort(bytes, request)) return onCut();
      stopListening();
      resolve(bytes);
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

/** Text that was decoded from UTF-8. U+FFFD may stand for bytes that were no UTF-8. */
export function requireLossless(text: string): string {
  if (text.includes('\ufffd')) throw new BodyError('body_unreadable', lostBytes);
  return text;
}

const lostBytes =
  'request body already decoded, and may have lost bytes: register plant-store before whatever calls setEncoding or keeps the body as text';
