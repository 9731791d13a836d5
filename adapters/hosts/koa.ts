import type { PlantHandler } from '../../src/index.js';
import { drain } from './_node/drain.js';
import { afterParsing, isForTheApp, toPlantRequest } from './_node/request.js';
import type { NodeRequest, NodeResponse, ParsedBody } from './_node/types.js';

/** What is used of a Koa context. */
export interface KoaContext {
  readonly req: NodeRequest;
  readonly res: NodeResponse;
  /** Body parsers leave `body` and `rawBody` here. */
  readonly request: object;
  readonly headerSent: boolean;
  readonly writable: boolean;
  status: number;
  body: unknown;
  set(headers: { [name: string]: string }): void;
}

/**
 * Mounts the handler in a Koa 2 or 3 app: plain, with koa-mount, or in a `@koa/router`, which strips nothing and so
 * needs `basePath`. Whatever is not `POST <mount>/plants` goes on to the app, its body unread.
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
): (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown> {
  return async (context, next) => {
    const { req, res } = context;
    await new Promise<void>((proceed) => afterParsing(req, proceed));
    const answer = await handle(toPlantRequest(req, res, context.request as ParsedBody, context));
    if (isForTheApp(answer)) return next();
    // Another middleware, such as a timeout, may have answered; or the client has gone.
    if (context.headerSent || !context.writable) return;
    drain(req, res);
    context.status = answer.status;
    context.set(answer.headers);
    context.body = answer.body;
  };
}
