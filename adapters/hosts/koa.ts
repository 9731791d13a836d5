import type { PlantHandler } from '../../src/index.js';
import { answerMistake, checkHandler } from '../../src/misuse.js';
import { drain } from './_node/drain.js';
import { askAgain, type Place } from './_node/mount.js';
import { afterParsing, isForTheApp, toPlantRequest } from './_node/request.js';
import type { NodeRequest, NodeResponse, ParsedBody } from './_node/types.js';

/** What is used of a Koa context. */
export interface KoaContext {
  readonly req: NodeRequest;
  readonly res: NodeResponse;
  /** Body parsers leave `body` and `rawBody` here. */
  readonly request: object;
  readonly originalUrl: string;
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
  ...rest: undefined[]
): (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown> {
  checkHandler(handle, rest);
  const middleware: ReturnType<typeof toKoa> = async (context, next) => {
    const { req, res } = context;
    if (!req) return answerMistake(context, next);
    const wasFlowing = await new Promise<boolean>((proceed) => afterParsing(req, proceed));
    const make = (url?: string) => toPlantRequest(req, res, context.request as ParsedBody, context, url);
    let answer = await handle(make());
    if (answer.status === 404) {
      const place = placeOf(context, middleware);
      answer = (await askAgain(handle, place, res, make)) ?? answer;
    }
    if (isForTheApp(answer)) {
      const handedOn = next();
      if (wasFlowing) req.resume();
      return handedOn;
    }
    const rest = drain(req, res);
    if (rest) await rest;
    // Another middleware, such as a timeout, may have answered; or the client has gone.
    if (context.headerSent || !context.writable) return;
    context.status = answer.status;
    context.set(answer.headers);
    context.body = answer.body;
  };
  return middleware;
}

/** What koa-mount and @koa/router add to a context. */
interface MountedContext {
  readonly mountPath?: string;
  readonly matched?: readonly { readonly path: unknown; readonly stack?: readonly unknown[] }[];
}

function placeOf(context: KoaContext & MountedContext, middleware: unknown): Place {
  const { req, originalUrl, mountPath: mount, matched } = context;
  const route = matched?.find?.(({ stack }) => stack?.includes?.(middleware));
  return { method: req.method, url: req.url!, originalUrl, mount, route: route?.path };
}
