import { OwnError } from './errors/own-words.js';
import { unlessInherited } from './errors/property-of.js';

/**
 * The platform's own type if the platform has it, otherwise a structural one: the published types then compile everywhere
 * and fit `fetch` and `pg` without a cast.
 */
export type Global<Name extends string, Fallback> = typeof globalThis extends {
  [K in Name]: { prototype: infer Instance };
}
  ? Instance
  : Fallback;

/** The platform's `AbortSignal`. */
export type Signal = Global<'AbortSignal', { readonly aborted: boolean }>;

/** The operation. The core, its 404 and 405, the hosts and the OpenAPI document follow it. */
export const operation = { method: 'POST', path: '/plants' } as const;

/** A value, or a promise of it. */
export type MaybePromise<T> = T | PromiseLike<T>;

/** Headers as the host has them: a `Headers` object, or a dictionary in any letter case. */
export type PlantHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** JSON text, or the value that a parser in front of the mount made of it. */
export type Json = string | { readonly parsed: unknown };

/** The whole of a body. */
export type Content = Json | Uint8Array;

/** The parameters of a route, by their names, decoded by the host's router. */
export interface RouteParams {
  readonly [name: string]: string | readonly string[] | undefined;
}

/** A request body: text, bytes, a parsed value, or a stream of bytes. */
export type PlantBody = Content | AsyncIterable<Uint8Array>;

/**
 * Reads the body, of at most `limit` bytes. Called at most once, and only after the token was accepted.
 *
 * @throws {BodyError} if the body is too large, incomplete or already consumed. Anything else thrown is `body_unreadable`.
 */
export type ReadBody = (limit: number) => MaybePromise<Content>;

/**
 * Thrown by a `ReadBody`: says what happened to the body.
 *
 * @example
 * ```ts
 * import { readFile, stat } from 'node:fs/promises';
 *
 * const spool = 'body.json';
 * const body: ReadBody = async (limit) => {
 *   if ((await stat(spool)).size > limit) throw new BodyError('body_too_large');
 *   return readFile(spool);
 * };
 * ```
 */
export class BodyError extends OwnError {
  override readonly name = 'BodyError';

  /** @param message what `onError` and the log get: do not quote the body. For `body_unreadable`, name the line of the app to change. */
  constructor(
    readonly problem: 'body_too_large' | 'body_incomplete' | 'body_unreadable',
    message: string = problem,
  ) {
    super(message);
  }
}

/**
 * A request as plain data. Adapters make it from the host's own request; tests, queues and Lambdas write it by hand.
 *
 * @example
 * ```ts
 * const request: PlantRequest = {
 *   method: 'POST',
 *   url: '/plants',
 *   headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
 *   body: '{"id":1,"name":"Rosa canina"}',
 * };
 * ```
 */
export interface PlantRequest {
  readonly method: string;
  /** Relative to the mount. An absolute URL is fine, and a query is ignored. */
  readonly url: string;
  readonly headers: PlantHeaders;
  readonly body?: PlantBody | ReadBody | null | undefined;
  /** Aborts when the client disconnects. */
  readonly signal?: Signal | undefined;
  /** The host's own request, for `verifyToken` and the storage; never read by the library. */
  readonly raw?: unknown;
  /** The parameters of the host's route, such as `id` of `/plants/:id`; never read by the library. */
  readonly params?: RouteParams | undefined;
  /** Whether the host's router has matched the path, by rules of its own: `url` is then not compared with `basePath`. */
  readonly routed?: boolean | undefined;
}

/** A response as plain data: header names in lower case, the body complete. */
export interface PlantResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  /**
   * The `ErrorNumber` of the body, if plant-store refused the request: for logs and metrics. 40401 and 40501 tell a
   * mount to pass the request on to the app, so a wrapper that builds a new response must copy `error`.
   */
  readonly error?: number | undefined;
}

/** Whether a response means that the request is not for plant-store. Not its status: an app's own 404 is a response. */
export function isNotMine({ error }: PlantResponse): boolean {
  return error === 40401 || error === 40501;
}

/**
 * Responds to one request. Never rejects, unless a host calls it directly, without an adapter.
 *
 * @param index is ignored: it lets `requests.map(handle)` compile, and keeps `app.use(handle)` from doing so
 */
export type PlantHandler = (request: PlantRequest, index?: number) => Promise<PlantResponse>;

/** Marks the handler of `createPlantStore`. Registered, because an app may load it and the adapter from two copies of this package. */
export const createMark = Symbol.for('plant-store.create');

/** Whether a handler is that of `createPlantStore`, and not of a guard, nor a function of the app. */
export function isCreate(handle: PlantHandler): boolean {
  return Object.hasOwn(handle, createMark);
}

/**
 * Reads a header by its lower-case name; an array if the host shows that it came more than once.
 *
 * A dictionary is read to its end: AWS Lambda keeps the client's spelling, and `authorization` next to `Authorization` is
 * two headers.
 */
export function header(headers: PlantHeaders, name: string): string | readonly string[] | null {
  // A dictionary may hold a header that is called "get", which is no function.
  const get = unlessInherited(headers.get, 'get');
  if (typeof get === 'function') return get.call(headers, name) ?? null;
  const dictionary = headers as { readonly [name: string]: string | readonly string[] | undefined };
  let found: string | readonly string[] | null = null;
  for (const key in dictionary) {
    if (key.length !== name.length || (key !== name && key.toLowerCase() !== name)) continue;
    const value = dictionary[key];
    if (value !== undefined && Object.hasOwn(dictionary, key))
      found = found === null ? value : [found, value].flat();
  }
  return found;
}

/**
 * Throws if a request lacks its members, as a copy of an adapter's does: those are of its class, so that no log shows them.
 *
 * @throws {TypeError} which says what to write
 */
export function checkMembers({ url, headers }: PlantRequest): void {
  if (typeof url === 'string' && headers) return;
  throw new TypeError(
    "a request must have method, url and headers; a copy ({ ...request }) of an adapter's request has none: pass the request itself, or name them: const { method, url, headers, body, signal, raw, params, routed } = request",
  );
}

/**
 * The path of a request target in origin-form or absolute-form (RFC 9112 §3.2), without its query. It accepts
 * only hosts that every URL parser reads alike: to Node's `url.parse`, and so to Express and Koa, the path of `http://a;b/plants`
 * is `;b/plants`.
 */
export function pathOf(url: string): string {
  // The expression matches every string.
  return url.match(/^(?:https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?)?([^?#]*)/i)![1]!;
}

/**
 * Whether a value is a path that clients can send: the characters of RFC 3986 §3.3, escapes in capitals as every encoder
 * writes them, and neither `.` nor `..`, which clients resolve.
 */
export function isPath(value: string): boolean {
  return /^(\/(?!(\.|%2[Ee]){1,2}(\/|$))([\w.~!$&'()*+,;=:@-]|%[\dA-F]{2})+)*$/.test(value);
}

/** An object's own members, without what a legacy library may have added to `Object.prototype`. */
export function own<T extends object>(object: T): T {
  return { __proto__: null, ...object };
}

/** Calls a function of the app, and ignores what it throws or rejects with. */
export async function ignoringErrors(call: () => MaybePromise<void>): Promise<void> {
  try {
    await call();
  } catch {}
}
