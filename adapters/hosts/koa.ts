import { checkHandler, own, respondToMistake } from '../../src/for-hosts.js';
import type { PlantHandler } from '../../src/index.js';
import { Exchange } from './_node/exchange.js';
import { respondTo } from './_node/respond.js';
import type { NodeRequest, NodeResponse } from './_node/types.js';

/** The part of a Koa context that this adapter uses. */
export interface KoaContext {
  readonly req: NodeRequest;
  readonly res: NodeResponse;
  /** Body parsers leave `body` and `rawBody` here. */
  readonly request: object;
  readonly originalUrl: string;
  readonly headerSent: boolean;
  status: number;
  body: unknown;
  set(headers: { [name: string]: string }): void;
  remove(header: string): void;
  /** Of koa-mount. */
  readonly mountPath?: string;
  /** Of @koa/router. */
  readonly routerPath?: unknown;
  readonly app?: { readonly middleware?: readonly unknown[] };
}

/**
 * Mounts the handler in a Koa 2 or 3 app: plain, with koa-mount, or as a `@koa/router` route:
 * `router.post('/api/plants', toKoa(handle))`. Passes whatever is not `POST <mount>/plants` on to the app, its body unread.
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
export function toKoa(
  handle: PlantHandler,
  ...rest: undefined[]
): (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown> {
  checkHandler(handle, rest);
  return async function plantStore(context, next) {
    if (!context.req) return respondToMistake(context, next);
    const exchange = new Exchange(context.req, context.res, context, context.request);
    const { originalUrl, mountPath: mount, routerPath, app, req } = context;
    // A router leaves it on the context when it passes a request on. To look for our middleware in the router's layers
    // would not do, because agents and apps wrap handlers; but what the app itself uses is in no route.
    const route = app?.middleware?.includes(plantStore) ? undefined : routerPath;
    const response = await respondTo(exchange, { url: req.url ?? '', originalUrl, mount, route }, handle);
    if (!response) return next();
    // Another middleware, such as a timeout, may have responded.
    if (context.headerSent) return;
    context.status = response.status;
    // Koa sets inherited members, too.
    context.set(own(response.headers));
    context.body = response.body;
    // Koa has counted it, but for HEAD the length is that of a GET's response, or unknown (RFC 9110 §8.6).
    if (!response.body) context.remove('content-length');
  };
}
