import { concat } from '../../src/body.js';
import type { Global } from '../../src/http.js';
import { BodyError, type PlantHandler, type Signal } from '../../src/index.js';

/** What is used of a Fetch `Request`. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: unknown;
  readonly bodyUsed: boolean;
  readonly signal: Signal;
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
): (request: FetchRequest, ...rest: unknown[]) => Promise<FetchResponse> {
  return async (request, server) => {
    const { status, headers, body } = await handle({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: (limit) => readBody(request, server, limit),
      // Some hosts build a whole request for it.
      get signal() {
        return request.signal;
      },
      raw: request,
    });
    return new Response(body || null, { status, headers });
  };
}

async function readBody(request: FetchRequest, server: unknown, limit: number): Promise<Uint8Array> {
  if (request.bodyUsed) throw new BodyError('body_unreadable', lostBody);
  try {
    if (isFasterWhole(request, server)) return new Uint8Array(await request.arrayBuffer());
    return await readStream(request.body as ByteStream | null, limit);
  } catch (error) {
    if (error instanceof BodyError) throw error;
    // Reading began, and broke off with the client; or somebody holds the stream's lock.
    throw request.bodyUsed ? new BodyError('body_incomplete') : new BodyError('body_unreadable', lostBody);
  }
}

const lostBody = 'the body was read before plant-store: hand it the request first, or a clone()';

/**
 * Whether to read the body in one go, which Bun, Deno and Hono on Node do a fifth faster or more. Only straight from a
 * server, whose parser holds the client to the length it declared; in a `Request` that was constructed it may be a lie.
 */
function isFasterWhole(request: FetchRequest, server: unknown): boolean {
  return (
    request.headers.get('content-length') !== null &&
    // Hono's light request is made without its constructor, and makes a real one only when asked for the stream.
    (!Object.hasOwn(Object.getPrototypeOf(request), 'constructor') || isBun(server) || isDeno(server))
  );
}

const isBun = (server: unknown) =>
  typeof (server as { requestIP?: unknown } | null)?.requestIP === 'function';
const isDeno = (info: unknown) => !!(info as { remoteAddr?: unknown } | null | undefined)?.remoteAddr;

/** Counts while it reads. */
async function readStream(stream: ByteStream | null, limit: number): Promise<Uint8Array> {
  if (!stream) return new Uint8Array();
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) return concat(chunks, length);
    length += value.byteLength;
    // What follows is left to the host: it knows how to go on with the connection.
    if (!(length <= limit)) throw new BodyError('body_too_large');
    chunks.push(value);
  }
}
