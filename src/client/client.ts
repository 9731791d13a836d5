import { boolean, checkOptions, integer, type Rules } from '../checks/rules.js';
import { checkToken } from '../checks/token.js';
import { inspect, kindOf } from '../errors/inspect.js';
import { type Global, type MaybePromise, operation, own, type Signal } from '../http.js';
import type { Plant, Whole } from '../plant/plant.js';
import { PlantError, type Received } from './error.js';

export { PlantError, type Received };

type Headed = { readonly headers: Global<'Headers', { get(name: string): string | null }> };

/** The part of the platform's `fetch` that the client uses. */
export type ClientFetch = (
  url: string,
  init: Headed & { method: string; body: string; redirect: 'manual'; signal: Signal | null },
) => PromiseLike<Headed & { readonly status: number; readonly body?: unknown; text(): Promise<string> }>;

/** The options of `createPlantClient`. */
export interface PlantClientOptions {
  /** The bearer token, or a function that returns it; the client calls the function before each attempt. */
  readonly token: string | (() => MaybePromise<string>);
  /** Default: the platform's own. */
  readonly fetch?: ClientFetch | undefined;
  /** How many times a request is retried at most. Default: 3. */
  readonly retries?: number | undefined;
  /** Whether the server has `acceptReplays` set. If so, the client also retries lost connections. Default: false. */
  readonly acceptReplays?: boolean | undefined;
}

/** A plant as the client sends it. The id is a `bigint`, or a `number` that is a safe integer: others are rounded already. */
export type ClientPlant = Plant & { readonly id: bigint | number };

/** What `createPlantClient` returns. */
export type PlantClient = ReturnType<typeof createPlantClient>;

/**
 * Creates a client of `POST /plants` that sends each id exactly. It retries a 503 that has a `Retry-After`, after that
 * time and a random part of a second, which doubles with each attempt.
 *
 * @param baseUrl the URL before `/plants`, such as `https://example.com/api`; in a browser also a path, such as `/api`
 * @throws {TypeError} if the URL, the token or an option is invalid
 *
 * @example
 * ```ts
 * import { createPlantClient } from 'plant-store/client';
 *
 * const client = createPlantClient('https://example.com/api', { token: 'secret' });
 * const { name, tag } = await client.create({ id: 9007199254740993n, name: 'Rosa canina' });
 * ```
 */
export function createPlantClient(baseUrl: string | { toString(): string }, options: PlantClientOptions) {
  const settings = own(options);
  const { retries, acceptReplays } = checkOptions(settings, rules(), names);
  const url = endpointOf(baseUrl, settings.fetch !== undefined || Object(globalThis).location !== undefined);
  if (typeof settings.token !== 'function')
    checkToken(settings.token, 'token', ', or a function that returns one');

  return {
    /**
     * Creates a plant and resolves to it as the server stored it.
     *
     * @throws {PlantError} if the server rejects the plant, or no response arrives
     * @throws {TypeError} if the id is neither a `bigint` nor a safe integer, name or tag is no string, or the token cannot be sent
     * @throws the signal's reason as soon as `signal` aborts: the plant may or may not have been stored
     */
    async create(plant: ClientPlant, { signal }: { signal?: Signal | undefined } = {}): Promise<Plant> {
      const body = bodyOf(plant);
      let unknown: PlantError | undefined;
      for (let attempt = 0; ; attempt++) {
        const outcome = await send(url, settings, body, signal).catch((cause) => {
          // A token that cannot be had does not settle what an earlier attempt left unknown.
          throw unknown && !signal?.aborted ? Object.assign(unknown, { cause }) : cause;
        });
        if (!(outcome instanceof PlantError)) return outcome;
        // What one attempt left unknown stays unknown.
        if (unknown) Object.assign(outcome, { stored: 'unknown' });
        if (outcome.stored === 'unknown') unknown = outcome;
        const { status, retryAfterMs = acceptReplays && status === 0 ? 0 : Infinity } = outcome;
        // A longer Retry-After is left to the caller.
        if (attempt >= retries || retryAfterMs > 60_000) throw outcome;
        await wait(retryAfterMs + Math.random() * 1_000 * 2 ** attempt, signal);
      }
    },
  };
}

/** What is checked here: of the token, `checkToken` says more. */
const rules = (): Rules<Pick<PlantClientOptions, 'retries' | 'acceptReplays'>> => ({
  retries: integer(3, 0),
  acceptReplays: boolean(false),
});

const names = ['token', 'fetch', 'retries', 'acceptReplays'];

/**
 * Returns the URL of the operation. The token goes there.
 *
 * @param mayBeRelative whether there is a page that a path is relative to, or a `fetch` of the app's own
 * @throws {TypeError} if `fetch` would find no server in it, which would look like a lost connection, or another than its text says
 */
function endpointOf(baseUrl: unknown, mayBeRelative: boolean): string {
  let url = String(baseUrl);
  // Not by an expression such as `/\/*$/`, whose time grows with the square of the slashes.
  while (url.endsWith('/')) url = url.slice(0, -1);
  url += operation.path;
  // What came is not shown: it may have a password, or be the token.
  if (/[?#]|^https?:\/\/[^/]*@/i.test(url))
    throw new TypeError(
      'baseUrl must have neither a user, nor a query, nor a fragment, such as "https://example.com/api"',
    );
  // localhost:3000/api is a URL too: its scheme is "localhost".
  const isAbsolute = /^https?:\/\//i.test(url);
  if (isAbsolute || (mayBeRelative && /^\.{0,2}\//.test(url) && isOfPage(url))) return url;
  const got = url.startsWith('/') ? 'a path' : kindOf(baseUrl);
  throw new TypeError(
    `baseUrl must begin with "https://", "http://" or, in a browser, "/", such as "https://example.com/api", got ${got}`,
  );
}

/** Whether a relative URL leads to the page's own server: to `URL`, `//host` and `/\host` are hosts. */
function isOfPage(url: string): boolean {
  const { location } = globalThis as { location?: { readonly href: string } };
  try {
    const page = new URL(location?.href ?? 'http://localhost');
    const { protocol, host } = new URL(url, page);
    // Not `origin`, which is "null" for every page of an app's own scheme.
    return protocol === page.protocol && host === page.host;
  } catch {
    return false;
  }
}

/** Sends one attempt. */
async function send(
  url: string,
  { token, fetch = globalThis.fetch as ClientFetch }: PlantClientOptions,
  body: string,
  signal: Signal | undefined,
): Promise<Plant | PlantError> {
  throwIfAborted(signal);
  const bearer = typeof token === 'function' ? await orAborted(signal, token()) : token;
  // With `fetch`, a token that no header can carry would look like a lost connection.
  checkToken(bearer, typeof token === 'function' ? 'what the function token returns' : 'token');
  const headers = new Headers({ authorization: `Bearer ${bearer}`, 'content-type': 'application/json' });
  const received: Received = { status: 0, json: {} };
  try {
    const init = own({
      method: 'POST',
      headers,
      body,
      redirect: 'manual' as const,
      signal: sendable(signal, fetch),
    });
    const response = await orAborted(signal, fetch(url, init));
    // A 200 has the texts of the plant, of which JSON writes a character as six bytes at most. An Error is short.
    const text = await readText(signal, response, Math.max(65_536, 6 * body.length));
    received.status = response.status;
    received.after = response.headers.get('retry-after');
    received.location = response.headers.get('location');
    received.json = Object(JSON.parse(text));
  } catch (error) {
    throwIfAborted(signal);
    // A body that is not JSON is not a failure of the connection.
    if (!received.status) received.cause = error;
  }
  const { status, json } = received;
  return status === 200 && isPlant(own(json)) ? (json as Plant) : new PlantError(url, received);
}

const isPlant = ({ name, tag }: { name?: unknown; tag?: unknown }) =>
  typeof name === 'string' && (tag === undefined || typeof tag === 'string');

/** Writes the digits of the id into the text: `JSON.stringify` throws on a `bigint`. */
function bodyOf({ id, name, tag }: ClientPlant): string {
  if (typeof id !== 'bigint' && !Number.isSafeInteger(id))
    throw new TypeError(`id must be a bigint or a safe integer, got ${inspect(id)}`);
  if (!isPlant({ name, tag }))
    throw new TypeError(
      `name must be a string, and tag a string or absent, got ${inspect(name)} and ${inspect(tag)}`,
    );
  const members = JSON.stringify({ name, tag } satisfies Whole<Plant>);
  // Without its own brace.
  return `{"id":${id},${members.slice(1)}`;
}

/** Not every platform's signal has a method for it: React Native's and that of older jsdoms have none. */
function throwIfAborted(signal: Signal | undefined): void {
  if (signal?.aborted) throw reasonOf(signal);
}

/** Why a signal aborted. Older ones do not say. */
function reasonOf(signal: Signal | undefined): unknown {
  return signal?.reason ?? Object.assign(new Error('The operation was aborted.'), { name: 'AbortError' });
}

/** The signal, unless the platform's own `fetch` would throw, because jsdom has put a class of its own in the place of the platform's. */
function sendable(signal: Signal | undefined, fetch: unknown): Signal | null {
  try {
    if (signal && fetch === globalThis.fetch) new Request('http://localhost', { signal });
    return signal ?? null;
  } catch {
    return null;
  }
}

type Response = Awaited<ReturnType<ClientFetch>>;

/** The body of a response; nothing if it has more than `limit` bytes, as no response of this API has. */
async function readText(signal: Signal | undefined, response: Response, limit: number): Promise<string> {
  // A `fetch` of the app's own may have another kind of body.
  const reader = (response.body as Partial<ReadableStream<Uint8Array>> | null | undefined)?.getReader?.();
  if (!reader) return (await orAborted(signal, response.text())).slice(0, limit);
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let left = limit; ; ) {
      const { done, value } = await orAborted(signal, reader.read());
      if (done) return text + decoder.decode();
      left -= value.length;
      if (left < 0) return '';
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function wait(ms: number, signal: Signal | undefined): Promise<void> {
  let timer: unknown;
  const elapsed = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await orAborted(signal, elapsed).finally(() => clearTimeout(timer as number));
}

/** Settles as `value` does, or rejects as soon as the signal aborts, because a function of the app may ignore it. */
function orAborted<T>(signal: Signal | undefined, value: MaybePromise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => signal?.removeEventListener('abort', onAbort);
    const onAbort = () => {
      stop();
      reject(reasonOf(signal));
    };
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    Promise.resolve(value).finally(stop).then(resolve, reject);
  });
}
