import {
  ChunkCollector,
  checkHandler,
  type Global,
  HostRequest,
  isNotMine,
  isThenable,
  linger,
  mountMistake,
  Upload,
} from '../../src/for-hosts.js';
import {
  BodyError,
  type PlantHandler,
  type PlantResponse,
  type ReadBody,
  type Signal,
} from '../../src/index.js';

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

/** What a host with the Fetch API calls for each request. */
export type FetchHandler = (request: FetchRequest, ...rest: unknown[]) => Promise<FetchResponse>;

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
  return (request, server) => {
    checkRequest(request);
    return respond(handle, new FetchPlantRequest(request, server));
  };
}

/**
 * Mounts the handler as a route of a host with the Fetch API, such as Next, Hono, h3, SvelteKit, React Router or Elysia.
 * The host's router has matched the path, by its own rules on slashes, letter case and escapes, so that no `basePath` is
 * needed; other methods return 405.
 *
 * A `guard` is mounted alike, and gets the route's parameters as `request.params`: those of the second argument,
 * `{ params }`, which Next passes itself (a promise of them is fine) and you pass in Hono, `getPlant(c.req.raw, { params:
 * c.req.param() })`; without one, those of Bun's own request.
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
  return (request, context) => {
    checkRequest(request);
    const plantRequest = new FetchPlantRequest(request, context);
    const { params = request.params } = Object(context) as RouteContext;
    const respondAt = (params: unknown) => {
      plantRequest.setRoute(true, params);
      return respond(handle, plantRequest);
    };
    return isThenable(params) ? Promise.resolve(params).then(respondAt) : respondAt(params);
  };
}

/** What a host with the Fetch API passes to the handler of a route, in addition to the request. */
interface RouteContext {
  readonly params?: unknown;
}

/** The request of a host of another kind, such as Node's: the wrong adapter was mounted. */
function checkRequest({ headers }: FetchRequest): void {
  if (typeof headers?.get !== 'function') throw mountMistake();
}

async function respond(handle: PlantHandler, plantRequest: FetchPlantRequest): Promise<FetchResponse> {
  const response = await handle(plantRequest);
  const { status, headers, body } = response;
  // Many clients lose a response that comes while they still write: so the rest of a refused body is read first. Not if the request
  // is not for plant-store: the app may still read its body.
  const mayStayOpen = status < 400 || isNotMine(response) || (await plantRequest.discard());
  if (!mayStayOpen) return lastResponse(response, plantRequest);
  return new Response(body || null, { status, statusText, headers });
}

/** The default, but an own member: `Response` would read one that `Object.prototype` has. */
const statusText = '';

/** A response that closes its connection, and stays open briefly before, so that the client can read it. */
function lastResponse(response: PlantResponse, plantRequest: FetchPlantRequest): FetchResponse {
  const bytes = new TextEncoder().encode(response.body);
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(bytes),
    // Called once the bytes are taken.
    async pull(controller) {
      await linger();
      controller.close();
      plantRequest.stop();
    },
  });
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
    return this.#request.signal;
  }

  async #read(limit: number): Promise<Uint8Array> {
    const raw = this.#request;
    if (raw.bodyUsed) throw new BodyError('body_unreadable', lostBody);
    const declared = raw.headers.get('content-length');
    // A Request never shows the body of a GET or a HEAD, which a guard gets.
    const hasBody = raw.method !== 'GET' && raw.method !== 'HEAD';
    const isConsumed = hasBody && declared === null && wasReadOnNode(this.#besides);
    let failure: unknown;
    try {
      const isWhole = declared !== null && Number(declared) <= limit && canReadWhole(raw, this.#besides);
      const bytes = await this.#readBytes(limit, isWhole);
      if (isConsumed && bytes.length === 0) throw new BodyError('body_unreadable', lostBody);
      const isCut = hasBody && bytes.length < Number(declared);
      if (!isCut) return bytes;
    } catch (error) {
      if (error instanceof BodyError) throw error;
      // Somebody else holds the lock of the stream, or there is none: that says nothing of the client.
      if (!raw.bodyUsed && !this.#upload) throw new BodyError('body_unreadable', lostBody);
      failure = error;
    }
    if (this.#mayHaveDisconnected()) throw new BodyError('body_incomplete');
    throw Object.assign(new BodyError('body_unreadable', lostBody), { cause: failure });
  }

  /** Whether a body may have broken off because its client has disconnected, and not because somebody has read or cut it. */
  #mayHaveDisconnected(): boolean {
    const { signal } = this.#request;
    // Azure Functions has none, and Deno's aborts only after the response.
    return !signal || signal.aborted || 'Deno' in globalThis;
  }

  async #readBytes(limit: number, isWhole: boolean): Promise<Uint8Array> {
    const raw = this.#request;
    if (!isWhole) this.#upload = uploadOf(raw);
    if (this.#upload) return this.#upload.read(new ChunkCollector(limit));
    // In half of the time on Bun, whose older versions have no `bytes`.
    const bytes = has(this.#besides, 'requestIP') ? await raw.bytes?.() : undefined;
    return bytes ?? new Uint8Array(await raw.arrayBuffer());
  }

  /** Throws away what was not read of the body. Resolves with whether nothing is left. */
  async discard(): Promise<boolean> {
    try {
      if (!this.#request.bodyUsed) this.#upload ??= uploadOf(this.#request);
    } catch {
      // Somebody else holds the stream's lock, and reads it.
    }
    return this.#upload?.discard(this.drainMs) ?? true;
  }

  /** Ends an upload that was not read to its end. On some hosts it destroys the connection: so the response is sent first. */
  stop(): void {
    this.#upload?.stop();
  }
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
 * Whether somebody in front, such as a parser of Express, has read a body that looks empty and has declared no length. Only Node's
 * own request tells: @hono/node-server passes it to its app, as `HttpBindings`.
 */
function wasReadOnNode(besides: unknown): boolean {
  const { incoming } = Object(besides) as { incoming?: { readableDidRead?: boolean } };
  return incoming?.readableDidRead === true;
}

/** Whether Bun's server (`requestIP`) or Deno's (`remoteAddr`) has called. By the name alone: the value costs 2 to 3 µs. */
function has(server: unknown, name: string): boolean {
  return Object(server) === server && name in (server as object);
}

/** The reader is kept, because on some hosts `request.body` is another object at each access. */
function uploadOf(request: FetchRequest): Upload | undefined {
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (!reader) return undefined;
  return new Upload({ next: () => reader.read(), return: () => reader.cancel() });
}
