/** Servers that speak Fetch, on Bun and Deno. */
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import type { Contenders, Listening } from './contender.js';
import { path, token } from './load.js';
import { elysia, hono } from './peers.js';

export const fetches: Contenders = {
  'by-hand': () => serve(byHand()),
  hono: () => serve(hono().fetch),
  elysia,
  toFetch: () => serve(toFetch(createPlantStore(memoryStorage(), acceptTokens(token)))),
};

type Listener = (request: Request, ...rest: unknown[]) => Promise<Response>;

interface Globals {
  readonly Bun?: { serve(options: { port: number; hostname: string; fetch: Listener }): { port: number } };
  readonly Deno?: {
    serve(
      options: { port: number; hostname: string; onListen(): void },
      listener: Listener,
    ): {
      readonly addr: { readonly port: number };
    };
  };
}

function serve(listener: unknown): Listening {
  const { Bun, Deno } = globalThis as Globals;
  const options = { port: 0, hostname: '127.0.0.1' };
  if (Bun) return { port: Bun.serve({ ...options, fetch: listener as Listener }).port };
  if (Deno) return { port: Deno.serve({ ...options, onListen() {} }, listener as Listener).addr.port };
  throw new Error('neither Bun nor Deno');
}

const bodyLimit = 1_048_576;

/** The operation by hand with the same promises: exact ids, strict UTF-8, a limit, any spelling of the media type. */
function byHand(): Listener {
  const plants = new Map<bigint, { name: string; tag: string | undefined }>();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const refuse = (status: number, message: string) =>
    Response.json({ error: status * 100 + 1, message }, { status });
  return async (request) => {
    if (!request.url.endsWith(path)) return refuse(404, 'not found');
    if (request.method !== 'POST') return refuse(405, 'POST only');
    const { headers } = request;
    if (headers.get('authorization') !== `Bearer ${token}`) return refuse(401, 'invalid token');
    if (!/^application\/json *(;|$)/i.test(headers.get('content-type') ?? ''))
      return refuse(400, 'JSON only');
    if (Number(headers.get('content-length')) > bodyLimit) return refuse(400, 'too large');
    const bytes = await request.arrayBuffer();
    if (bytes.byteLength > bodyLimit) return refuse(400, 'too large');
    let text: string;
    let plant: { id: unknown; name: unknown; tag?: unknown };
    try {
      text = decoder.decode(bytes);
      plant = Object(JSON.parse(text));
    } catch {
      return refuse(400, 'not JSON');
    }
    const { name, tag } = plant;
    if (!Number.isInteger(plant.id)) return refuse(400, 'id must be an integer');
    if (typeof name !== 'string') return refuse(400, 'name must be a string');
    if (tag !== undefined && typeof tag !== 'string') return refuse(400, 'tag must be a string');
    const digits = /"id"\s*:\s*(-?\d+)\s*[,}]/.exec(text)?.[1];
    if (!digits) return refuse(400, 'id must be an integer');
    const id = BigInt(digits);
    if (BigInt.asIntN(64, id) !== id) return refuse(400, 'id must be an integer');
    if (plants.has(id)) return refuse(400, 'the id is taken');
    plants.set(id, { name, tag });
    return Response.json({ name, tag });
  };
}
