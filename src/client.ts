import { names, open, PlantError } from './client-error.js';
import type { Global, MaybePromise, Signal } from './http.js';
import type { Plant } from './plant/plant.js';
import type { ErrorNumber } from './problems.js';

export { PlantError };

/** The part of the platform's `fetch` that the client uses. */
export type ClientFetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Global<'Headers', { get(name: string): string | null }>;
    readonly body: string;
    readonly redirect: 'manual';
    readonly signal: Signal | null;
  },
) => PromiseLike<{
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

/** The options of `createPlantClient`. */
export interface PlantClientOptions {
  /** The bearer token, or a function that returns it; the client calls the function before each attempt. */
  readonly token: string | (() => MaybePromise<string>);
  /** Default: the platform's own. */
  readonly fetch?: ClientFetch | undefined;
  /** How often a request is retried at most. Default: 3. */
  readonly retries?: number | undefined;
  /** Whether the server has `acceptReplays` set. If so, the client retries lost connections too. Default: false. */
  readonly acceptReplays?: boolean | undefined;
}

/** A plant as the client sends it. */
export interface ClientPlant extends Plant {
  /** A `bigint`. A `number` is accepted if it is a safe integer, because others are rounded already. */
  readonly id: bigint | number;
}

/** What `createPlantClient` returns. */
export interface PlantClient {
  /**
   * Creates a plant and resolves to it as the server stored it.
   *
   * @throws {PlantError} if the server rejects the plant, or no response arrives
   * @throws {TypeError} if the id is neither a `bigint` nor a safe integer, or the token cannot be sent
   * @throws the signal's reason if `signal` aborts: the plant may or may not have been stored
   */
  create(plant: ClientPlant, options?: { readonly signal?: Signal | undefined }): Promise<Plant>;
}

/** A longer `Retry-After` is left to the caller. */
const longestWaitMs = 60_000;

/**
 * Creates a client of `POST /plants` that sends each id exactly. It retries a 503 that has a `Retry-After`, after that
 * time and a random part of a second, which doubles with each attempt.
 *
 * @param baseUrl the URL before `/plants`, such as `https://example.com/api`
 *
 * @example
 * ```ts
 * import { createPlantClient } from 'plant-store/client';
 *
 * const client = createPlantClient('https://example.com/api', { token: 'secret' });
 * const { name, tag } = await client.create({ id: 9007199254740993n, name: 'Rosa canina' });
 * ```
 */
export function createPlantClient(
  baseUrl: string | { toString(): string },
  options: PlantClientOptions,
): PlantClient {
  const { retries = 3, acceptReplays } = options;
  const url = String(baseUrl).replace(/\/*$/, '/plants');

  return {
    async create(plant, { signal = null } = {}) {
      const body = toJson(plant);
      let last: PlantError | undefined;
      for (let attempt = 0; ; attempt++) {
        try {
          return await send(url, options, body, signal, last);
        } catch (error) {
          // Anything else than a PlantError has none of these, and is thrown.
          last = Object(error) as PlantError;
          const { status, retryAfterMs = acceptReplays && status === 0 ? 0 : Infinity } = last;
          if (attempt >= retries || retryAfterMs > longestWaitMs) throw error;
          await wait(retryAfterMs + Math.random() * 1_000 * 2 ** attempt, signal);
        }
      }
    },
  };
}

type ResponseJson = Partial<Plant & { error: ErrorNumber; message: string }> | null | undefined;

/** Sends one attempt. `last` is the error of the attempt before. */
async function send(
  url: string,
  { token, fetch = globalThis.fetch as ClientFetch }: PlantClientOptions,
  body: string,
  signal: Signal | null,
  last: PlantError | undefined,
): Promise<Plant> {
  // Throws if a header cannot carry the token: with `fetch` that would look like a lost connection.
  const headers = new Headers({
    authorization: `Bearer ${typeof token === 'function' ? await token() : token}`,
    'content-type': 'application/json',
  });
  let status = 0;
  let after: string | null | undefined;
  let json: ResponseJson;
  let cause: unknown;
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    const text = await response.text();
    status = response.status;
    after = response.headers.get('retry-after');
    json = JSON.parse(text);
  } catch (error) {
    signal?.throwIfAborted();
    cause = error;
  }
  if (status === 200 && typeof json?.name === 'string') return json as Plant;
  const error = json?.error as ErrorNumber;
  const problem = names[error];
  const isOpen = problem ? open.includes(error) : status < 300 || status >= 500;
  throw new PlantError((problem && json!.message) || (status ? `HTTP ${status}` : 'no response'), {
    status,
    error: problem && error,
    problem,
    // What an earlier attempt left unknown stays unknown.
    stored: isOpen || last?.stored === 'unknown' ? 'unknown' : 'no',
    // Seconds, or a date (RFC 9110 §10.2.3).
    retryAfterMs:
      status === 503 && after
        ? Math.max(0, Number(after) * 1_000 || Date.parse(after) - Date.now() || 0)
        : undefined,
    cause,
  });
}

/** Writes the digits of the id into the text: `JSON.stringify` throws on a `bigint`. */
function toJson({ id, name, tag }: ClientPlant): string {
  if (typeof id !== 'bigint' && !Number.isSafeInteger(id))
    throw new TypeError(`id must be a bigint or a safe integer, got ${id}`);
  return JSON.stringify({ id: 0, name, tag }).replace('0', String(id));
}

/** Waits, or until the signal aborts: then the next attempt rejects. */
function wait(ms: number, signal: Signal | null): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted ? 0 : ms);
    signal?.addEventListener('abort', end);
  });
}
