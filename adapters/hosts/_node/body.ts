import { isBytes, nextMessage, unlessInherited } from '../../../src/for-hosts.js';
import { BodyError, type ReadBody } from '../../../src/index.js';
import type { Exchange } from './exchange.js';
import { isShort, isWhole, readStream, readWaiting, requireLossless } from './stream.js';
import type { NodeRequest } from './types.js';

/** Reads the body: at once if all of it is there, otherwise once Node has parsed the packet that it comes in. */
export function readNodeBody(exchange: Exchange, limit: number): ReturnType<ReadBody> {
  const { request } = exchange;
  const state = stateOf(exchange);
  // A stand-in has no `complete`: nothing of it is still to be parsed.
  const isBeingParsed = request.complete === false;
  if (state === 'whole' || !isBeingParsed) return readFrom(state, exchange, limit);
  let isBroken = false;
  // Never removed: an error that nobody hears would end the process. Remembered, because not each one destroys the stream.
  request.on('error', () => {
    isBroken = true;
  });
  return nextMessage().then(() => {
    if (isBroken) throwIncomplete();
    return readFrom(stateOf(exchange), exchange, limit);
  });
}

/** Reads the body from the first place of the table that has it exactly. */
function readFrom(state: keyof typeof places, exchange: Exchange, limit: number): ReturnType<ReadBody> {
  for (const place of places[state]) {
    const found = place(exchange, limit);
    if (found !== undefined) return found;
  }
  // A stream that was read never ends again: to wait would hang.
  throw new BodyError('body_unreadable', lostBody);
}

type Place = (exchange: Exchange, limit: number) => ReturnType<ReadBody> | undefined;

/** Where the body can be, by what has become of Node's stream; in this order. The page of hosts has this table. */
const places = {
  // The client has disconnected, or somebody has destroyed the stream.
  cut: [throwIncomplete],
  // All of it is there, and nobody has read of it.
  whole: [wholeStream],
  unread: [readStream],
  // It has ended, and nobody has read of it.
  empty: [putBack, keptBytes, emptyBody],
  read: [putBack, keptBytes, keptBody],
  // No `keptBytes`: a middleware is still reading, and may have kept a part only.
  'being read': [keptBody],
  // Some platforms pass an object that is no stream.
  none: [keptBytes, keptBody, emptyBody],
} satisfies Record<string, readonly Place[]>;

function stateOf({ request, response }: Exchange): keyof typeof places {
  // On HTTP/2 an aborted request is `complete`, too (https://nodejs.org/api/http2.html#requestcomplete): check `aborted` first.
  if (request.aborted || (request.destroyed && !request.readableEnded)) return 'cut';
  if (typeof request.read !== 'function') return 'none';
  if (request.readableEnded) return request.readableDidRead ? 'read' : 'empty';
  if (request.readableDidRead) return 'being read';
  return isWhole(request, response) ? 'whole' : 'unread';
}

function throwIncomplete(): never {
  throw new BodyError('body_incomplete');
}

function wholeStream(exchange: Exchange, limit: number): Uint8Array {
  exchange.isReadAhead = true;
  const bytes = readWaiting(exchange.request, limit);
  if (isShort(bytes, exchange.request)) throwIncomplete();
  return bytes;
}

/** What a platform has put back into a stream that has ended, as Vercel does by a `read` of its own. */
function putBack({ request }: Exchange, limit: number): Uint8Array | undefined {
  const left = readWaiting(request, limit);
  return left.length > 0 ? left : undefined;
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

function emptyBody(): string {
  return '';
}

/** What a body parser of this host has left, or one in front of it: Koa can be inside of Express, or on a platform. */
function readKept({ bodyHolder, request }: Exchange, name: 'body' | 'rawBody'): unknown {
  return readProperty(bodyHolder, name) ?? readProperty(request, name);
}

/** What a body parser or a platform has left. A getter that parses when it is read throws if the body is not JSON. */
function readProperty(holder: object, name: string): unknown {
  try {
    return unlessInherited((holder as Record<string, unknown>)[name], name);
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
