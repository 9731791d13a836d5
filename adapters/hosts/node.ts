import { checkHandler, Refusal, respondToMistake } from '../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../src/index.js';
import { Exchange, type Place } from './_node/exchange.js';
import { respondTo } from './_node/respond.js';
import type { NodeRequest, NodeResponse } from './_node/types.js';

export type { NodeRequest, NodeResponse } from './_node/types.js';

// Kept from when this module loads, because an app's tests may fake it.
const { nextTick } = process;

/**
 * Adapts the handler to the signature `(request, response, next?)`: `node:http`, `node:https`, `node:http2`, Connect,
 * Polka and, as `toExpress`, Express. With a `next`, every request but
 * `POST <mount>/plants` falls through to the app, its body unread.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { memoryStorage } from 'plant-store/memory';
 * import { toNode } from 'plant-store/node';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * createServer(toNode(handle)).listen(3000);
 * ```
 */
export function toNode(
  handle: PlantHandler,
  ...rest: undefined[]
): (request: NodeRequest, response: NodeResponse, next?: Next) => void {
  checkHandler(handle, rest);
  return function plantStore(request, response, next) {
    if (!request.method || typeof response?.writeHead !== 'function')
      return void respondToMistake(request, response);
    const place = placeOf(request, next);
    respondTo(new Exchange(request, response, request, request), place, handle, Boolean(next))
      .then((plantResponse) => (plantResponse ? send(plantResponse, response) : passOn(next!)))
      .catch((error) => (next ? passOn(next, error) : fail(error, response)));
  };
}

type Next = (error?: unknown) => void;

/** What the app throws in `next` is the app's error, not a rejection of our promise. */
function passOn(next: Next, ...error: unknown[]): void {
  try {
    next(...error);
  } catch (thrown) {
    nextTick(() => {
      throw thrown;
    });
  }
}

/** What Express adds to a request. */
interface ExpressRequest extends NodeRequest {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly route?: { readonly path: unknown; readonly stack?: unknown };
  readonly next?: unknown;
}

function placeOf(request: ExpressRequest, next: unknown): Place {
  const { url = '', originalUrl = url, baseUrl: mount, route } = request;
  // Express leaves a route that was passed on its requests; a route's own `next` is not the router's, which the request
  // has. Agents and apps wrap handlers, but not this.
  const isInRoute = Array.isArray(route?.stack) && next !== request.next;
  return { url, originalUrl, mount, route: isInRoute ? route.path : undefined };
}

function send({ status, headers, body }: PlantResponse, response: NodeResponse): void {
  // Another middleware, such as a timeout, may have responded.
  if (response.headersSent || response.writableEnded) return;
  // Not by `writeHead`: where no other header is set, `getHeaders`, from which loggers read, would not have them.
  for (const name of Object.keys(headers)) response.setHeader(name, headers[name]!);
  if (body) response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status);
  response.end(body);
}

/** `handle` never rejects, but a wrapper of it may; and `writeHead` throws if the headers do not go together. */
function fail(error: unknown, response: NodeResponse): void {
  console.error(error);
  try {
    if (response.headersSent) return void response.destroy();
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    send(new Refusal('internal_error').toResponse(), response);
  } catch {
    // A patched `setHeader` may always throw.
    response.destroy();
  }
}
