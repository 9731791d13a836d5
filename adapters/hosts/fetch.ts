import { Gathered } from '../../src/body.js';
import { WithSignal } from '../../src/context.js';
import type { Global } from '../../src/http.js';
import {
  BodyError,
  type PlantHandler,
  type PlantRequest,
  type ReadBody,
  type Signal,
} from '../../src/index.js';
import { answerMistake, checkHandler } from '../../src/misuse.js';

/** What is used of a Fetch `Request`. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: unknown;
  readonly bodyUsed: boolean;
  /** Azure Functions has none. */
  readonly signal?: Signal | undefined;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The platform's `Response`. */
export type FetchResponse = Global<'Response', { readonly status: number }>;

/** What is used of a `ReadableStream` of bytes. */
interface ByteStream {
  readonly locked: boolean;
  getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array }>; releaseLock(): void };
}

/**
 * Mounts the handler where Fetch is spoken: `Bun.serve`, `Deno.serve`, `export default { fetch }` on Workers, a Next
 * route's `POST`, Hono, h3, Elysia. There is no next handler here: other paths and methods are answered 404 and 405.
 * Where the host strips no mount, set `basePath`.
 *
 * @example
 * ```ts
 * import { serve } from '@hono/node-server';
 * import { Hono } from 'hono';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { toFetch } from 'plant-store/fetch';
 * import { memoryStorage } from 'plant-store/memory';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * serve({ fetch: new Hono().mount('/api', toFetch(handle)).fetch, port: 3000 }); // POST /api/plants
 * ```
 */
export function toFetch(
  handle: PlantHandler,
  ...rest: undefined[]
): (request: FetchRequest, ...rest: unknown[]) => Promise<FetchResponse> {
  checkHandler(handle, rest);
  return async (request, server) => {
    if (typeof request.headers.get !== 'function') return answerMistake(request, server) as never;
    const { status, headers, body } = await handle(new FetchPlantRequest(request, server));
    return new Response(body || null, { status, headers });
  };
}

class FetchPlantRequest extends WithSignal implements PlantRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: FetchRequest['headers'];
  readonly body: ReadBody;

  constructor(
    readonly raw: FetchRequest,
    server: unknown,
  ) {
    super();
    this.method = raw.method;
    this.url = raw.url;
    this.headers = raw.headers;
    this.body = (limit) => readFetchBody(raw, server, limit);
  }

  // On some hosts reading `signal` builds a whole Request.
  protected getSignal(): Signal {
    return this.raw.signal ?? new AbortController().signal;
  }
}

async function readFetchBody(request: FetchRequest, server: unknown, limit: number): Promise<Uint8Array> {
  if (request.bodyUsed) throw new BodyError('body_unreadable', lostBody);
  try {
    if (canReadWhole(request, server)) return new Uint8Array(await request.arrayBuffer());
    return await readStream(request.body as ByteStream | null, limit);
  } catch (error) {
    if (error instanceof BodyError) throw error;
    // The client broke off while we read; or somebody else holds the stream's lock.
    throw request.bodyUsed ? new BodyError('body_incomplete') : new BodyError('body_unreadable', lostBody);
  }
}

const lostBody = 'the body was read before plant-store: hand it the request first, or a clone()';

/**
 * Whether `arrayBuffer()` is safe. Gain: a fifth on Bun, Deno and Hono on Node. Only if the request comes straight from
 * a server, whose parser enforces the declared length; a constructed Request may lie.
 */
function canReadWhole(request: FetchRequest, server: unknown): boolean {
  return (
    request.headers.get('content-length') !== null &&
    // @hono/node-server's light Request (its prototype has no own `constructor`) builds a full one if asked for its stream.
    (!Object.hasOwn(Object.getPrototypeOf(request), 'constructor') || isBun(server) || isDeno(server))
  );
}

const isBun = (server: unknown) =>
  typeof (server as { requestIP?: unknown } | null)?.requestIP === 'function';
const isDeno = (info: unknown) => !!(info as { remoteAddr?: unknown } | null | undefined)?.remoteAddr;

/** Reads and counts. */
async function readStream(stream: ByteStream | null, limit: number): Promise<Uint8Array> {
  const gathered = new Gathered(limit);
  const reader = stream?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    gathered.add(value);
  }
  return gathered.join();
}
