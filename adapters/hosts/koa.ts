import { answerMistake, checkHandler } from '../../src/for-hosts.js';
import type { PlantHandler } from '../../src/index.js';
import { answerOf } from './_node/answer.js';
import type { Exchange } from './_node/exchange.js';
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
    if (!context.req) return answerMistake(context, next);
    const answer = await answerOf(handle, new KoaExchange(context, plantStore));
    if (!answer) return next();
    // Another middleware, such as a timeout, may have answered.
    if (context.headerSent) return;
    context.status = answer.status;
    context.set(answer.headers);
    context.body = answer.body;
  };
}

/** What koa-mount and @koa/router add to a context. */
interface MountedContext extends KoaContext {
  readonly mountPath?: string;
  readonly routerPath?: unknown;
  readonly app?: { readonly middleware?: readonly unknown[] };
}

class KoaExchange implements Exchange {
  constructor(
    readonly raw: MountedContext,
    readonly middleware: unknown,
  ) {}

  get request() {
    return this.raw.req;
  }

  get response() {
    return this.raw.res;
  }

  get parsed() {
    return this.raw.request;
  }

  get url() {
    return this.request.url!;
  }

  get originalUrl() {
    return this.raw.originalUrl;
  }

  get mount() {
    return this.raw.mountPath;
  }

  get route() {
    const { app, routerPath } = this.raw;
    // A router leaves it on the context when it passes a request on. To look for our middleware in the router's layers
    // would not do, because agents and apps wrap handlers; but what the app itself uses is in no route.
    return app?.middleware?.includes(this.middleware) ? undefined : routerPath;
  }
}
