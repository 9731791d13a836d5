import type { Global, MaybePromise, Signal } from './http.js';
import type { Plant } from './plant/plant.js';
import type { ErrorNumber, errorNumbers, Problem } from './problems.js';

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

/**
 * Why a create failed. `message` is the server's own.
 *
 * @example
 * ```ts
 * import { createPlantClient, PlantError } from 'plant-store/client';
 *
 * const client = createPlantClient('https://example.com/api', { token: 'secret' });
 * try {
 *   await client.create({ id: 1n, name: 'Rosa canina' });
 * } catch (error) {
 *   if (!(error instanceof PlantError)) throw error;
 *   if (error.problem === 'id_taken') console.log('Choose another id.');
 *   else if (error.stored === 'unknown') console.log('The plant may or may not have been stored.');
 * }
 * ```
 */
export class PlantError extends Error {
  override readonly name = 'PlantError';
  /** The HTTP status; 0 if no response arrived. */
  declare readonly status: number;
  /** The server's error code, if the response has one. */
  declare readonly error: ErrorNumber | undefined;
  /** The name of the error code, if this version knows it. */
  declare readonly problem: Problem | undefined;
  /** `'no'` if the server stored nothing, `'unknown'` if it may have. */
  declare readonly stored: 'no' | 'unknown';
  /** The time to wait before the next attempt in milliseconds, if the server said that another is safe. */
  declare readonly retryAfterMs: number | undefined;
  /** What `fetch` rejected with, if no response arrived. */
  declare readonly cause: unknown;

  /** @internal */
  constructor(message: string, details: Omit<PlantError, Exclude<keyof Error, 'cause'>>) {
    super(message);
    Object.assign(this, details);
  }
}

/** The error codes again, because the table in problems.ts would bring its sentences. The type holds the two together. */
const names: { readonly [Name in Problem as (typeof errorNumbers)[Name]]: Name } = {
  40001: 'body_not_json',
  40002: 'plant_invalid',
  40003: 'id_taken',
  40004: 'plant_refused',
  40005: 'media_type_unsupported',
  40006: 'body_too_large',
  40007: 'body_incomplete',
  40101: 'token_missing',
  40102: 'token_invalid',
  40301: 'scope_insufficient',
  40401: 'not_found',
  40501: 'method_not_allowed',
  50000: 'internal_error',
  50001: 'storage_failed',
  50002: 'verification_failed',
  50003: 'body_unreadable',
  50004: 'storage_rejected',
  50301: 'busy',
  50302: 'timed_out',
};

/** After these problems the plant may be stored. */
const open: readonly unknown[] = [50000, 50001, 50302];

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
  const { token, fetch = globalThis.fetch as ClientFetch, retries = 3, acceptReplays } = options;
  const url = String(baseUrl).replace(/\/*$/, '/plants');

  async function send(body: string, signal: Signal | null, last: PlantError | undefined): Promise<Plant> {
    // Throws if a header cannot carry the token: with `fetch` that would look like a lost connection.
    const headers = new Headers({
      authorization: `Bearer ${typeof token === 'function' ? await token() : token}`,
      'content-type': 'application/json',
    });
    let status = 0;
    let after: string | null | undefined;
    let json: Partial<Plant & { error: ErrorNumber; message: string }> | null | undefined;
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
    throw new PlantError((problem && json?.message) || (status ? `HTTP ${status}` : 'no response'), {
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

  return {
    async create(plant, { signal = null } = {}) {
      const body = toJson(plant);
      let last: PlantError | undefined;
      for (let attempt = 0; ; attempt++) {
        try {
          return await send(body, signal, last);
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
