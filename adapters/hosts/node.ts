import { checkHandler, operation, pathOf, Refusal, unlessInherited } from '../../src/for-hosts.js';
import { describeError, type PlantHandler, type PlantResponse } from '../../src/index.js';
import { Exchange } from './_node/exchange.js';
import { endsInOperation, isRespelled, MountWarning, middlewareAdvice, routeAdvice } from './_node/mount.js';
import { NodePlantRequest } from './_node/request.js';
import { respondTo } from './_node/respond.js';
import type { NodeRequest, NodeResponse } from './_node/types.js';
import { wrongHost } from './_shared/wrong-host.js';

export type { NodeRequest, NodeResponse } from './_node/types.js';

// Kept from when this module loads, because an app's tests may fake it.
const { nextTick } = process;

/**
 * Adapts the handler to the signature `(request, response, next?)`: `node:http`, `node:https`, `node:http2`, Connect,
 * Polka and, as `toExpress`, Express. With a `next`, every request but
 * `POST <mount>/plants` falls through to the app, its body unread.
 *
 * @throws {TypeError} if it is given no handler
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
export function toNode(handle: PlantHandler, ..._none: undefined[]): NodeHandler {
  checkHandler(handle);
  const warning = new MountWarning();
  return function plantStore(request, response, next) {
    warnOfMount(request, plantStore, warning);
    respond(handle, request, response, next, false);
  };
}

/**
 * Mounts the handler as a route of Express, Polka or another router on Node, which has matched the path by its own rules on letter case,
 * slashes and escapes: no `basePath` is needed. Other methods than POST are passed to `next`. Mount a `guard` in the same way: it gets
 * the route's parameters as `request.params`.
 *
 * @throws {TypeError} if it is given no handler
 *
 * @example
 * ```ts
 * import express from 'express';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { toRoute } from 'plant-store/express';
 * import { memoryStorage } from 'plant-store/memory';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * express().post('/api/plants', toRoute(handle)).listen(3000);
 * ```
 */
export function toRoute(handle: PlantHandler, ..._none: undefined[]): NodeHandler {
  checkHandler(handle);
  const warning = new MountWarning();
  return function plantStore(request, response, next) {
    if (!next || !isMiddleware(request)) return respond(handle, request, response, next, true);
    warning.give(middlewareAdvice('toExpress', 'app'));
    passOn(next);
  };
}

/** What a host on Node calls for each request. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse, next?: Next) => void;

type Next = (error?: unknown) => void;

/**
 * What the app throws in `next` is the app's error, not a rejection of our promise.
 *
 * @param error none or one: to Express, whatever is passed to `next` is an error
 */
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
  readonly baseUrl?: unknown;
  readonly params?: unknown;
  readonly route?: { readonly stack?: unknown };
}

function respond(
  handle: PlantHandler,
  request: ExpressRequest,
  response: NodeResponse,
  third: unknown,
  isRouted: boolean,
): void {
  if (!request?.method || typeof response?.writeHead !== 'function') throw wrongHost(request);
  // Some routers pass something else there, such as the parameters of the route.
  const next = typeof third === 'function' ? (third as Next) : undefined;
  const { url = '', originalUrl = url } = request;
  if (next && !isRouted && isRespelled(url, originalUrl)) return void passOn(next);
  const plantRequest = new NodePlantRequest(new Exchange(request, response), url);
  plantRequest.setRoute(isRouted, unlessInherited(request.params, 'params'));
  const passToApp = next && (() => passOn(next));
  respondTo(plantRequest, handle, (plantResponse) => send(plantResponse, response), passToApp).catch(
    (error) => (next ? passOn(next, error) : fail(error, response)),
  );
}

/** Whether Express has called it as middleware, which would respond to whatever is below its mount, and not as a route. */
function isMiddleware({ route, baseUrl, url = '' }: ExpressRequest): boolean {
  return typeof baseUrl === 'string' && !route && (baseUrl === '' || pathOf(url) !== '/');
}

/** Warns of a mount at which nothing can be served, by what the app has written. */
function warnOfMount(request: ExpressRequest, plantStore: NodeHandler, warning: MountWarning): void {
  const { route, baseUrl, params, url = '' } = request;
  const stack = route?.stack;
  if (Array.isArray(stack) && stack.some((layer) => layer?.handle === plantStore))
    return void warning.give(routeAdvice('toExpress'));
  if (!endsInOperation(baseUrl) || pathOf(url) !== '/') return;
  // A mount with a parameter ends in whatever the client sends. An inner router cannot see that of an outer one: hence the "If".
  if (Object.keys(Object(params)).length === 0)
    warning.give(
      `toExpress(handle) adds ${operation.path} to its mount. If that is app.use('/api${operation.path}', toExpress(handle)), write app.use('/api', toExpress(handle)), which serves POST /api${operation.path}.`,
    );
}

function send({ status, headers, body }: PlantResponse, response: NodeResponse): void {
  // Another middleware, such as a timeout, may have responded.
  if (response.headersSent || response.writableEnded) return;
  // Not as arguments of `writeHead`: if no other header is set, `getHeaders`, from which loggers read, would not have them.
  for (const name of Object.keys(headers)) response.setHeader(name, headers[name]!);
  if (body) response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status);
  response.end(body);
}

/** `handle` never rejects, but a wrapper of it may; and `writeHead` throws if the headers do not go together. */
function fail(error: unknown, response: NodeResponse): void {
  console.error(`plant-store: 50000 internal_error: ${describeError(error)}`);
  try {
    if (response.headersSent) return void response.destroy();
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    send(new Refusal('internal_error').toResponse(), response);
  } catch {
    // A patched `setHeader` may always throw.
    response.destroy();
  }
}
