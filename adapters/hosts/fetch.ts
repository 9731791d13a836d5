import {
  ChunkCollector,
  checkHandler,
  type Global,
  HostRequest,
  isBytes,
  isNotMine,
  nextMessage,
  propertyOf,
  Upload,
  unlessInherited,
} from '../../src/for-hosts.js';
import {
  BodyError,
  type PlantHandler,
  type PlantResponse,
  type ReadBody,
  type Signal,
} from '../../src/index.js';
import { wrongHost } from './_shared/wrong-host.js';

/** The part of a Fetch `Request` that this adapter uses. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: unknown;
  readonly bodyUsed: boolean;
  /** Of a route of Bun's. */
  readonly params?: unknown;
  /** Azure Functions has none. */
  readonly signal?: Signal | undefined;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes?(): Promise<Uint8Array>;
}

/** The platform's `Response`. */
export type FetchResponse = Global<'Response', { readonly status: number }>;

/**
 * What a host with the Fetch API calls for each request. Next 15 compares the last signature of a route with its own, in which the
 * request must be the platform's.
 */
export interface FetchHandler {
  (request: FetchRequest, ...rest: unknown[]): Promise<FetchResponse>;
  (request: Global<'Request', FetchRequest>, ...rest: unknown[]): Promise<FetchResponse>;
}

/**
 * Mounts the handler on servers that pass every request: `Bun.serve`, `Deno.serve`, `export default { fetch }` on Workers.
 * There is no next handler here: other paths and methods return 404 and 405. Set `basePath` if the app has a prefix.
 *
 * @throws {TypeError} if it is given no handler
 *
 * @example
 * ```ts
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { toFetch } from 'plant-store/fetch';
 * import { memoryStorage } from 'plant-store/memory';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' });
 * export default { fetch: toFetch(handle) }; // POST /api/plants
 * ```
 */
export function toFetch(handle: PlantHandler, ..._none: undefined[]): FetchHandler {
  checkHandler(handle);
  return (request: FetchRequest, server?: unknown) => {
    checkRequest(request);
    return respond(handle, new FetchPlantRequest(request, server));
  };
}

/**
 * Mounts the handler as a route of a host with the Fetch API, such as Next, Hono, h3, SvelteKit, React Router or Elysia.
 * The host's router has matched the path, by its own rules on slashes, letter case and escapes, so that no `basePath` is
 * needed; other methods return 405.
 *
 * Mount a `guard` in the same way. It gets the route's parameters as `request.params`: those of the second argument, `{ params }`, which
 * Next passes itself (a promise of them is fine) and you pass in Hono, `getPlant(c.req.raw, { params: c.req.param() })`; without one,
 * those of Bun's own request.
 *
 * @throws {TypeError} if it is given no handler
 *
 * @example
 * ```ts
 * import { serve } from '@hono/node-server';
 * import { Hono } from 'hono';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { toRoute } from 'plant-store/fetch';
 * import { memoryStorage } from 'plant-store/memory';
 *
 * const plants = toRoute(createPlantStore(memoryStorage(), acceptTokens('secret')));
 * const app = new Hono().post('/api/plants', (c) => plants(c.req.raw));
 * serve({ fetch: app.fetch, port: 3000 });
 * ```
 */
export function toRoute(handle: PlantHandler, ..._none: undefined[]): FetchHandler {
  checkHandler(handle);
  return (request: FetchRequest, context?: unknown) => {
    checkRequest(request);
    const plantRequest = new FetchPlantRequest(request, context);
    const given = Object(context) as { readonly params?: unknown };
    const params = unlessInherited(given.params, 'params') ?? unlessInherited(request.params, 'params');
    return Promise.resolve(params).then((found) => {
      plantRequest.setRoute(true, found);
      return respond(handle, plantRequest);
    });
  };
}

/** The request of a host of another kind, such as Node's: the wrong adapter was mounted. */
function checkRequest(request: FetchRequest): void {
  if (typeof request?.headers?.get !== 'function') throw wrongHost(request);
}

async function respond(handle: PlantHandler, plantRequest: FetchPlantRequest): Promise<FetchResponse> {
  const response = await handle(plantRequest);
  const { status, headers, body } = response;
  // Not if the request is not for plant-store: the app may still read its body.
  const isRead = status < 400 || isNotMine(response) || (await plantRequest.drainFirst());
  if (!isRead) return respondWhileDraining(response, plantRequest);
  return new Response(body || null, { status, statusText, headers });
}

/** The default, but an own member: `Response` would read one that `Object.prototype` has. */
const statusText = '';

/** A response that does not end before its upload is drained, because a host may then close the connection. */
function respondWhileDraining(response: PlantResponse, plantRequest: FetchPlantRequest): FetchResponse {
  const bytes = new TextEncoder().encode(response.body);
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(bytes),
    // Called once the bytes are taken.
    async pull(controller) {
      await plantRequest.drainRest();
      controller.close();
      plantRequest.stop();
    },
  });
  // By the length the client sees that it has all of it. Without `close`, h3 and others would read an upload that was not ended on.
  const headers = { ...response.headers, 'content-length': `${bytes.length}`, connection: 'close' };
  return new Response(body, { status: response.status, statusText, headers });
}

class FetchPlantRequest extends HostRequest {
  readonly #request: FetchRequest;
  readonly #besides: unknown;
  #upload: Upload | undefined;

  /** @param besides what the host passes besides the request: its server, its bindings, or what it knows of a route */
  constructor(raw: FetchRequest, besides: unknown) {
    super(raw.method, raw.url, raw.headers, raw);
    this.#request = raw;
    this.#besides = besides;
  }

  get body(): ReadBody {
    return (limit) => this.#read(limit);
  }

  // On some hosts reading `signal` builds a whole Request. On Azure Functions there is none.
  get signal(): Signal | undefined {
    return #request in this ? this.#request.signal : undefined;
  }

  async #read(limit: number): Promise<Uint8Array> {
    const raw = this.#request;
    if (raw.bodyUsed) throw new BodyError('body_unreadable', lostBody);
    const declared = raw.headers.get('content-length');
    // Asked before it is read here: Node's request does not say who has read it.
    const wasReadInFront = wasReadOnNode(this.#besides);
    let failure: unknown;
    try {
      const isWhole = declared !== null && Number(declared) <= limit && canReadWhole(raw, this.#besides);
      const content = await this.#readContent(limit, isWhole);
      const bytes = isBytes(content) ? content : new Uint8Array(content);
      if (wasReadInFront && bytes.length === 0) throw new BodyError('body_unreadable', lostBody);
      // A Request never shows the body of a GET or a HEAD, which a guard gets.
      const hasBody = raw.method !== 'GET' && raw.method !== 'HEAD';
      const isCut = hasBody && bytes.length < Number(declared);
      if (!isCut) return bytes;
    } catch (error) {
      if (error instanceof BodyError) throw error;
      // Somebody else holds the lock of the stream, or there is none: that says nothing of the client.
      if (!raw.bodyUsed && !this.#upload) throw new BodyError('body_unreadable', lostBody);
      failure = error;
    }
    // Some hosts tell of a client that has disconnected a moment later.
    await nextMessage();
    if (this.#mayHaveDisconnected() || isOfConnection(failure)) throw new BodyError('body_incomplete');
    throw Object.assign(new BodyError('body_unreadable', lostBody), { cause: failure });
  }

  /** Whether a body may have broken off because its client has disconnected, and not because somebody has read or cut it. */
  #mayHaveDisconnected(): boolean {
    const { signal } = this.#request;
    // Azure Functions has none, and Deno's aborts only after the response (denoland/deno#27005).
    return !signal || signal.aborted || 'Deno' in globalThis;
  }

  /** Not async, because a request pays for each promise. */
  #readContent(limit: number, isWhole: boolean): Promise<Uint8Array | ArrayBuffer> {
    const raw = this.#request;
    if (!isWhole) this.#upload = uploadOf(raw);
    if (this.#upload) return this.#upload.read(new ChunkCollector(limit));
    // In half of the time on Bun, whose older versions have no `bytes`.
    return (has(this.#besides, 'requestIP') && raw.bytes?.()) || raw.arrayBuffer();
  }

  /** Before the response: reads the first of what was not read of the body. Resolves with whether nothing is left. */
  async drainFirst(): Promise<boolean> {
    try {
      if (!this.#request.bodyUsed) this.#upload ??= uploadOf(this.#request);
    } catch {
      // Somebody else holds the stream's lock, and reads it.
    }
    return this.#upload?.skipFirst(this.drainMs) ?? true;
  }

  /** After the response. */
  async drainRest(): Promise<void> {
    await this.#upload?.skipRest();
  }

  /** Ends an upload that was not read to its end. On some hosts it destroys the connection: so the response is sent first. */
  stop(): void {
    this.#upload?.stop();
  }
}

/**
 * Whether a body broke off with its connection, by the codes of Node's streams and the name of the platform's error. On a pipelined
 * request, whose response has no socket yet, @hono/node-server's signal does not abort.
 */
function isOfConnection(failure: unknown): boolean {
  const isBroken = /^(ECONNRESET|ERR_STREAM_PREMATURE_CLOSE)$/.test(String(propertyOf(failure, 'code')));
  return isBroken || propertyOf(failure, 'name') === 'AbortError';
}

const lostBody =
  "request body consumed, or cut off at a limit of the host's own: raise that limit above bodyLimit, and call plant-store first, or pass it request.clone(); in Hono, await cloneRawRequest(c.req)";

/**
 * Whether `arrayBuffer()` is safe. Gain: a fifth on Bun, Deno and Hono on Node. Only if the request comes straight from
 * a server, whose parser enforces the declared length; a constructed Request may lie.
 */
function canReadWhole(request: FetchRequest, server: unknown): boolean {
  return (
    // @hono/node-server's light Request, whose prototype has no own `constructor`, comes straight from Node, and would build a full one
    // if it were asked for its stream.
    !Object.hasOwn(Object.getPrototypeOf(request), 'constructor') ||
    has(server, 'requestIP') ||
    has(server, 'remoteAddr')
  );
}

/**
 * Whether somebody in front, such as a parser of Express, has read bytes of a body that now looks empty. Only Node's own request tells:
 * @hono/node-server passes it to its app, as `HttpBindings`.
 */
function wasReadOnNode(besides: unknown): boolean {
  return propertyOf(propertyOf(besides, 'incoming'), 'readableDidRead') === true;
}

/** Whether Bun's server (`requestIP`) or Deno's (`remoteAddr`) has called. By the name alone: the value costs 2 to 3 µs. */
function has(server: unknown, name: string): boolean {
  return Object(server) === server && name in (server as object) && !(name in Object.prototype);
}

/** The reader is kept, because on some hosts `request.body` is another object at each access. */
function uploadOf(request: FetchRequest): Upload | undefined {
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (!reader) return undefined;
  return new Upload({ next: () => reader.read(), return: () => reader.cancel() });
}
