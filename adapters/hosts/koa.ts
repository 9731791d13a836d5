import { checkHandler, mountMistake, operation, own } from '../../src/for-hosts.js';
import type { PlantHandler } from '../../src/index.js';
import { Exchange } from './_node/exchange.js';
import { endsInOperation, isRespelled, MountWarning, routeAdvice } from './_node/mount.js';
import { NodePlantRequest } from './_node/request.js';
import { respondTo } from './_node/respond.js';
import type { NodeRequest, NodeResponse } from './_node/types.js';

export type { NodeRequest, NodeResponse };

/** The part of a Koa context that this adapter uses. */
export interface KoaContext {
  readonly req: NodeRequest;
  readonly res: NodeResponse;
  /** Body parsers leave `body` and `rawBody` here. */
  readonly request: object;
  readonly path: string;
  readonly originalUrl: string;
  readonly headerSent: boolean;
  status: number;
  body: unknown;
  set(headers: { [name: string]: string }): void;
  remove(header: string): void;
  /** Of koa-mount. */
  readonly mountPath?: string;
  /** Of @koa/router: the parameters, and the layers that match. */
  readonly params?: unknown;
  readonly matched?: unknown;
}

/** What Koa calls for each request. */
export type KoaHandler = (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown>;

/**
 * Mounts the handler in a Koa 2 or 3 app, plain or with koa-mount. Passes whatever is not `POST <mount>/plants` on to the app,
 * its body unread. As a route of `@koa/router`, write `toRoute`.
 *
 * @throws {TypeError} if it is given no handler
 *
 * @example
 * ```ts
 * import Koa from 'koa';
 * import mount from 'koa-mount';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { toKoa } from 'plant-store/koa';
 * import { memoryStorage } from 'plant-store/memory';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * new Koa().use(mount('/api', toKoa(handle))).listen(3000); // POST /api/plants
 * ```
 */
export function toKoa(handle: PlantHandler, ..._none: undefined[]): KoaHandler {
  checkHandler(handle);
  const warning = new MountWarning();
  return function plantStore(context, next) {
    warnOfMount(context, plantStore, warning);
    return respond(handle, context, next, false);
  };
}

/**
 * Mounts the handler as a route of `@koa/router`, which has matched the path by its own rules on letter case and slashes: no
 * `basePath` is needed. Other methods than POST are passed to `next`. A `guard` is mounted alike, and gets the route's
 * parameters as `request.params`.
 *
 * @throws {TypeError} if it is given no handler
 *
 * @example
 * ```ts
 * import Router from '@koa/router';
 * import Koa from 'koa';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { toRoute } from 'plant-store/koa';
 * import { memoryStorage } from 'plant-store/memory';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * const router = new Router();
 * router.post('/api/plants', toRoute(handle));
 * new Koa().use(router.routes()).listen(3000);
 * ```
 */
export function toRoute(handle: PlantHandler, ..._none: undefined[]): KoaHandler {
  checkHandler(handle);
  return function plantStore(context, next) {
    return respond(handle, context, next, true);
  };
}

function respond(
  handle: PlantHandler,
  context: KoaContext,
  next: () => Promise<unknown>,
  isRouted: boolean,
): Promise<unknown> {
  if (!context.req) throw mountMistake();
  const { req, res, request, originalUrl, params } = context;
  const url = req.url ?? '';
  if (isRespelled(url, originalUrl)) return next();
  const plantRequest = new NodePlantRequest(new Exchange(req, res, context, request), url);
  plantRequest.setRoute(isRouted, params);
  return respondTo(plantRequest, handle).then((response) => {
    if (!response) return next();
    // Another middleware, such as a timeout, may have responded.
    if (context.headerSent) return undefined;
    context.status = response.status;
    // Koa sets inherited members, too.
    context.set(own(response.headers));
    context.body = response.body;
    // Koa has counted it, but for HEAD the length is that of a GET's response, or unknown (RFC 9110 §8.6).
    if (!response.body) context.remove('content-length');
    return undefined;
  });
}

/** Warns of a mount at which nothing can be served, by what the app has written. */
function warnOfMount(context: KoaContext, plantStore: KoaHandler, warning: MountWarning): void {
  const { mountPath, path, matched } = context;
  if (Array.isArray(matched) && matched.some((layer) => isRouteOf(layer, plantStore)))
    return void warning.give(routeAdvice('toKoa'));
  if (typeof mountPath !== 'string') return;
  const mount = mountPath.endsWith('/') ? mountPath.slice(0, -1) : mountPath;
  const isOwnPath = endsInOperation(mount) && path === '/';
  // Of `/api/plants`, koa-mount leaves `plants` below a mount at `/api/`.
  const isSlashTaken = mount !== mountPath && !path.startsWith('/');
  const parent = isOwnPath ? mount.slice(0, -operation.path.length) : mount;
  if (isOwnPath || isSlashTaken)
    warning.give(
      `toKoa(handle) is mounted at '${mountPath}', and adds ${operation.path} to it. For POST ${parent}${operation.path}, write mount('${parent || '/'}', toKoa(handle)).`,
    );
}

/** Whether a layer of @koa/router is a route, and the middleware is its handler. One of `router.use` has no methods. */
function isRouteOf(layer: unknown, plantStore: KoaHandler): boolean {
  const { methods, stack } = Object(layer);
  return Array.isArray(methods) && methods.length > 0 && Array.isArray(stack) && stack.includes(plantStore);
}
