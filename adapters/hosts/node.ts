import { isBytes } from '../../src/http.js';
import {
  BodyError,
  type PlantHandler,
  type PlantRequest,
  type PlantResponse,
  type ReadBody,
} from '../../src/index.js';

// biome-ignore lint/suspicious/noExplicitAny: a listener's arguments are the event's own
type Listener = (...args: any[]) => void;

/** What is used of a request of `node:http`, `node:https` or `node:http2`'s compatibility API. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly rawHeaders: readonly string[];
  readonly aborted: boolean;
  readonly destroyed: boolean;
  readonly complete?: boolean;
  readonly readableDidRead: boolean;
  readonly readableFlowing: boolean | null;
  readonly readableLength: number;
  readonly readableEnded: boolean;
  readonly readableEncoding: string | null;
  on(event: string, listener: Listener): unknown;
  off(event: string, listener: Listener): unknown;
  pause(): unknown;
  read(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** What is used of the response beside it. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed?: boolean;
  readonly _sent100?: boolean;
  /** On HTTP/2 alone. */
  readonly stream?: {
    readonly destroyed: boolean;
    readonly sentInfoHeaders?: readonly unknown[] | undefined;
    on(event: string, listener: Listener): unknown;
    close(code: number): void;
  };
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  writeContinue(): unknown;
  end(body: string): unknown;
  on(event: string, listener: Listener): unknown;
}

/** What a body parser in front of the mount left behind, wherever the host keeps it. */
export interface ParsedBody {
  readonly body?: unknown;
  readonly rawBody?: unknown;
}

/**
 * Mounts the handler where `(request, response, next?)` is spoken: `node:http`, `node:https`, `node:http2`, Connect,
 * Polka and, as `toExpress`, Express. With a `next`, whatever is not `POST <mount>/plants` is handed on, its body unread.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { memoryStorage } from 'plant-store/memory';
 * import { toNode } from 'plant-store/node';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * createServer(toNode(handle)).listen(3000);
 * ```
 */
export function toNode(
  handle: PlantHandler,
): (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void) => void {
  return (request, response, next) =>
    onceParsed(request, () => {
      handle(fromNode(request, response, request as ParsedBody)).then((answer) => {
        // On a tick of its own: an error that the app throws there is the app's, not a rejection of ours.
        if (next && isNotOurs(answer)) process.nextTick(next);
        else send(answer, request, response);
      });
    });
}

/**
 * Goes on when the packet that brought the head is parsed: most bodies came with it whole, and one `read` then takes
 * them. Listeners to the stream, a promise and a timer for each body would cost more than all the rest of this file; and
 * requests that came together are answered together, by code that the processor still has at hand.
 *
 * @internal shared with the other hosts on Node
 */
export function onceParsed({ method, complete }: NodeRequest, goOn: () => void): void {
  if (method === 'POST' && complete === false) setImmediate(goOn);
  else goOn();
}

/**
 * Whether a middleware hands the request on to the app: another path, or another method.
 *
 * @internal shared with the other hosts on Node
 */
export function isNotOurs({ status }: PlantResponse): boolean {
  return status === 404 || status === 405;
}

/**
 * A Node request as the handler takes it.
 *
 * @internal shared with the other hosts on Node
 */
export function fromNode(
  request: NodeRequest,
  response: NodeResponse,
  parsed: ParsedBody,
  raw: unknown = request,
  url = request.url ?? '',
): PlantRequest {
  return new PlainRequest(request, response, parsed, raw, url);
}

/** An object of one shape: with a getter of its own, each would be a new shape to V8, at several microseconds. */
class PlainRequest implements PlantRequest {
  readonly method: string;
  readonly headers: PlantRequest['headers'];
  readonly body: ReadBody;
  declare readonly signal: AbortSignal;
  readonly #response: NodeResponse;
  #signal: AbortSignal | undefined;

  constructor(
    request: NodeRequest,
    response: NodeResponse,
    parsed: ParsedBody,
    readonly raw: unknown,
    readonly url: string,
  ) {
    this.method = request.method ?? '';
    this.headers = headersOf(request);
    this.body = (limit) => readBody(request, response, parsed, limit);
    this.#response = response;
    // Its own, not its class's, so that `{...request}` has it too.
    Object.defineProperty(this, 'signal', PlainRequest.#signalProperty);
  }

  static readonly #signalProperty = {
    enumerable: true,
    get(this: PlainRequest): AbortSignal {
      this.#signal ??= disconnectSignal(this.#response);
      return this.#signal;
    },
  };
}

/** The headers, with every Authorization: Node keeps the first alone. */
function headersOf({ headers, rawHeaders }: NodeRequest): PlantRequest['headers'] {
  let authorization: string[] | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 13 && name.toLowerCase() === 'authorization') {
      authorization ??= [];
      authorization.push(rawHeaders[i + 1] as string);
    }
  }
  return authorization && authorization.length > 1 ? { ...headers, authorization } : headers;
}

function disconnectSignal(response: NodeResponse): AbortSignal {
  const controller = new AbortController();
  const gone = () => {
    if (!response.writableEnded) controller.abort();
  };
  if (response.destroyed || response.stream?.destroyed) gone();
  else response.on('close', gone);
  return controller.signal;
}

/** Reads the body from the first place that still has it exactly. */
function readBody(
  request: NodeRequest,
  response: NodeResponse,
  { body, rawBody }: ParsedBody,
  limit: number,
): ReturnType<ReadBody> {
  if (typeof rawBody === 'string' || isBytes(rawBody)) return rawBody;
  // An aborted request on HTTP/2 looks ended and complete: ask for that first.
  if (request.aborted) throw new BodyError('body_incomplete');
  // A stream that was read never ends again: waiting for it would hang.
  if (!request.readableDidRead) {
    if (request.readableEnded) return '';
    return wholeBody(request, response, limit) ?? readStream(request, response, limit);
  }
  if (typeof body === 'string' || isBytes(body)) return body;
  if (body !== undefined) return { parsed: body };
  throw new BodyError('body_unreadable', lostBody);
}

const lostBody =
  'the request body was read before plant-store: mount plant-store above whatever reads it (body parsers, loggers), or keep its bytes as rawBody, as in express.json({ verify: (request, _response, bytes) => { request.rawBody = bytes } })';

/** The body, if it waits in the stream, and neither somebody's listener, encoding or 100 is due before it. */
function wholeBody(request: NodeRequest, response: NodeResponse, limit: number): Uint8Array | undefined {
  const isThere = request.complete && !response.stream && request.readableLength <= limit;
  const isPlain = request.readableFlowing === null && request.readableEncoding === null;
  if (!isThere || !isPlain || request.headers.expect !== undefined) return undefined;
  return (request.read() ?? Buffer.alloc(0)) as Uint8Array;
}

function readStream(request: NodeRequest, response: NodeResponse, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    let reading = true;
    const onData = (chunk: Uint8Array | string) => {
      // Somebody called setEncoding.
      const bytes =
        typeof chunk === 'string'
          ? Buffer.from(chunk, (request.readableEncoding ?? 'utf8') as BufferEncoding)
          : chunk;
      length += bytes.length;
      if (length > limit) stop('body_too_large');
      else chunks.push(bytes);
    };
    const stop = (problem: 'body_too_large' | 'body_incomplete') => {
      if (!reading) return;
      reading = false;
      request.off('data', onData);
      request.pause();
      reject(new BodyError(problem));
    };
    const cutShort = () => stop('body_incomplete');
    request.on('data', onData);
    request.on('end', () => {
      if (request.aborted) return cutShort();
      reading = false;
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    // A client that goes away brings an error or only a close; a close also follows every end. The listeners go with
    // the request.
    request.on('error', cutShort);
    request.on('close', cutShort);
    if (awaitsContinue(request, response)) response.writeContinue();
  });
}

/** Whether the client waits for a 100 that nobody has sent: so it is when the server listens to `checkContinue`. */
function awaitsContinue({ headers }: NodeRequest, response: NodeResponse): boolean {
  const sent = response._sent100 || response.stream?.sentInfoHeaders?.length;
  return !sent && /^100-continue$/i.test(String(headers.expect));
}

function send({ status, headers, body }: PlantResponse, request: NodeRequest, response: NodeResponse): void {
  // Another middleware may have answered meanwhile, a time-out for one.
  if (response.headersSent || response.writableEnded) return;
  drain(request, response);
  // Copied by hand: an object that is spread into a literal is a slow one to V8, by two microseconds a request.
  const sent: Record<string, string | number> = {};
  for (const name in headers) sent[name] = headers[name] as string;
  if (body) sent['content-length'] = Buffer.byteLength(body);
  response.writeHead(status, sent);
  response.end(body);
}

const drainLimit = 64 * 2 ** 20;
const drainStallMs = 500;

/**
 * Reads the rest of an upload that was refused, so that a client which writes before it reads gets its answer; not
 * more than 64 MiB, nor for longer than 500 ms without progress. Node alone would read on for ever.
 *
 * @internal shared with the other hosts on Node
 */
export function drain(request: NodeRequest, response: NodeResponse): void {
  const { stream } = response;
  const isRead = !stream && request.complete && request.readableLength === 0;
  if (request.readableEnded || isRead) return;
  if (stream) {
    // HTTP/2 says it in a frame: complete answer, no need for the rest (RFC 9113 §8.1). The connection lives on.
    // Of the stream, for the response's own 'finish' waits for the close that this is about.
    stream.on('finish', () => {
      stream.close(0);
      // What has come already keeps the stream until somebody takes it.
      request.resume();
    });
    return;
  }
  let left = drainLimit;
  let timer: NodeJS.Timeout | undefined;
  const giveUp = () => request.destroy();
  request.on('data', (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left >= 0) timer?.refresh();
    else if (timer) giveUp();
    else request.pause();
  });
  request.on('close', () => clearTimeout(timer));
  // The clock starts with the answer sent: before that, the app may still be at work on it.
  response.on('finish', () => {
    if (!request.destroyed) timer = setTimeout(giveUp, left < 0 ? 0 : drainStallMs);
  });
  request.resume();
}
