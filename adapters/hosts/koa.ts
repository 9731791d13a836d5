import { checkHandler, operation, own, propertyOf, unlessInherited } from '../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../src/index.js';
import { Exchange } from './_node/exchange.js';
import { endsInOperation, isRespelled, MountWarning, middlewareAdvice, routeAdvice } from './_node/mount.js';
import { NodePlantRequest } from './_node/request.js';
import { respondTo } from './_node/respond.js';
import type { NodeRequest, NodeResponse } from './_node/types.js';
import { wrongHost } from './_shared/wrong-host.js';

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
 * Mounts the handler in a Koa 2 or 3 app, plain or with koa-mount. Passes whatever is not `POST <mount>/plants` on to the app, its body
 * unread. For a route of `@koa/router`, use `toRoute`.
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
 * Mounts the handler as a route of `@koa/router`, which has matched the path by its own rules on letter case and slashes: no `basePath`
 * is needed. Other methods than POST are passed to `next`. Mount a `guard` in the same way: it gets the route's parameters as
 * `request.params`.
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
  const warning = new MountWarning();
  return function plantStore(context, next) {
    if (!context.req || !isMiddleware(context, plantStore)) return respond(handle, context, next, true);
    warning.give(middlewareAdvice('toKoa', 'router'));
    return next();
  };
}

function respond(
  handle: PlantHandler,
  context: KoaContext,
  next: () => Promise<unknown>,
  isRouted: boolean,
): Promise<unknown> {
  if (!context.req) throw wrongHost(context);
  const { req, res, request, originalUrl, params } = context;
  const url = req.url ?? '';
  if (!isRouted && isRespelled(url, originalUrl)) return next();
  const plantRequest = new NodePlantRequest(new Exchange(req, res, context, request), url);
  plantRequest.setRoute(isRouted, unlessInherited(params, 'params'));
  return respondTo(plantRequest, handle, (response) => send(response, context), next);
}

function send({ status, headers, body }: PlantResponse, context: KoaContext): void {
  // Another middleware, such as a timeout, may have responded.
  if (context.headerSent) return;
  context.status = status;
  // Koa sets inherited members, too.
  context.set(own(headers));
  context.body = body;
  // Koa has counted it, but for HEAD the length is that of a GET's response, or unknown (RFC 9110 §8.6).
  if (!body) context.remove('content-length');
}

/** Warns of a mount at which nothing can be served, by what the app has written. */
function warnOfMount(context: KoaContext, plantStore: KoaHandler, warning: MountWarning): void {
  const { mountPath, path } = context;
  const layers = layersOf(context, plantStore);
  if (layers.some(isRoute)) return void warning.give(routeAdvice('toKoa'));
  const { path: at } = layers[0] ?? {};
  if (typeof at === 'string' && /^(\/[\w-]+)+$/.test(at))
    return void warning.give(
      `toKoa(handle) is in router.use('${at}', …), which strips no path. For POST ${at}${operation.path}, write router.post('${at}${operation.path}', toRoute(handle)), or app.use(mount('${at}', toKoa(handle))).`,
    );
  if (typeof mountPath !== 'string') return;
  const mount = mountPath.endsWith('/') ? mountPath.slice(0, -1) : mountPath;
  const isOwnPath = endsInOperation(mount) && path === '/';
  // Of `/api/plants`, koa-mount leaves `plants` below a mount at `/api/`.
  const isSlashTaken = !path.startsWith('/');
  const parent = isOwnPath ? mount.slice(0, -operation.path.length) : mount;
  if (isOwnPath || isSlashTaken)
    warning.give(
      `toKoa(handle) is mounted at '${mountPath}', and adds ${operation.path} to it. For POST ${parent}${operation.path}, write mount('${parent || '/'}', toKoa(handle)).`,
    );
}

/** Whether it was not called as a route: as middleware it would respond to whatever is below its mount. */
function isMiddleware(context: KoaContext, plantStore: KoaHandler): boolean {
  const { path } = context;
  const layers = layersOf(context, plantStore);
  if (layers.length > 0) return !layers.some(isRoute);
  // A router has called, maybe by a function of the app; or the mount is the route.
  const isRouted = propertyOf(context, 'params') !== undefined;
  return !isRouted && !(propertyOf(context, 'mountPath') && path === '/');
}

/** A layer of @koa/router. */
interface Layer {
  readonly path?: unknown;
  readonly methods?: readonly string[];
  readonly stack?: readonly unknown[];
}

/** The layers of @koa/router that have called. */
function layersOf({ matched }: KoaContext, plantStore: KoaHandler): Layer[] {
  return Array.isArray(matched)
    ? matched.filter((layer?: Layer) => layer?.stack?.includes?.(plantStore))
    : [];
}

/** Whether a layer is a route: one of `router.use` has no methods. */
const isRoute = ({ methods }: Layer) => methods !== undefined && methods.length > 0;
