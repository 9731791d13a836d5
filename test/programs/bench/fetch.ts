/** Servers that speak Fetch, on Bun and Deno. */
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { type BaselinePlant, mistakeIn, type ParsedPlant, store } from './baseline.js';
import type { Contenders, Listening } from './contender.js';
import { path, token } from './load.js';

export const fetches: Contenders = {
  'by-hand': () => serve(byHand()),
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

/** The operation as an engineer writes it by hand who wants it fast: no more than is required. */
function byHand(): Listener {
  const plants = new Map<number, BaselinePlant>();
  const refuse = (status: number, message: string) =>
    Response.json({ error: status * 100 + 1, message }, { status });
  return async (request) => {
    if (!request.url.endsWith(path)) return refuse(404, 'not found');
    if (request.method !== 'POST') return refuse(405, 'POST only');
    if (request.headers.get('authorization') !== `Bearer ${token}`) return refuse(401, 'invalid token');
    if (request.headers.get('content-type') !== 'application/json') return refuse(400, 'JSON only');
    let plant: ParsedPlant;
    try {
      plant = (await request.json()) as ParsedPlant;
    } catch {
      return refuse(400, 'not JSON');
    }
    const mistake = mistakeIn(plant);
    if (mistake) return refuse(400, mistake);
    if (!store(plants, plant)) return refuse(400, 'the id is taken');
    return Response.json({ name: plant.name, tag: plant.tag });
  };
}
