/**
 * What each adapter returns fits the host's own handler type without a cast; a mount without an adapter, or an adapter
 * without a handler, does not compile. `tsc` checks this file, nothing runs it.
 */
import { createServer } from 'node:http';
import type * as Http2 from 'node:http2';
import type { createServer as createHttps } from 'node:https';
import type { serve as serveHono } from '@hono/node-server';
import type Router from '@koa/router';
import type express from 'express';
import type express4 from 'express4';
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import type { H3 } from 'h3';
import type { Hono } from 'hono';
import type Koa from 'koa';
import type Koa2 from 'koa2';
import type { PlantHandler } from 'plant-store';
import { toExpress, type toRoute as toExpressRoute } from 'plant-store/express';
import { toFastify, type toRoute as toFastifyRoute } from 'plant-store/fastify';
import { toFetch, type toRoute } from 'plant-store/fetch';
import { toKoa, type toRoute as toKoaRoute } from 'plant-store/koa';
import { toNode } from 'plant-store/node';

declare const node: ReturnType<typeof toNode>;
declare const forExpress: ReturnType<typeof toExpress>;
declare const koa: ReturnType<typeof toKoa>;
declare const fastify: ReturnType<typeof toFastify>;
declare const fetch: ReturnType<typeof toFetch>;
declare const route: ReturnType<typeof toRoute>;
declare const expressRoute: ReturnType<typeof toExpressRoute>;
declare const koaRoute: ReturnType<typeof toKoaRoute>;
declare const fastifyRoute: ReturnType<typeof toFastifyRoute>;
declare const handle: PlantHandler;

declare const five: express.Express;
declare const four: express4.Express;
declare const three: Koa;
declare const two: Koa2;
declare const koaRouter: Router;
declare const https: typeof createHttps;
declare const http2: typeof Http2.createServer;
declare const secure: typeof Http2.createSecureServer;
declare const fastifyApp: FastifyInstance;
type On2 = FastifyInstance<Http2.Http2Server, Http2.Http2ServerRequest, Http2.Http2ServerResponse>;
declare const fastifyOnHttp2: On2;
declare const hono: Hono;
declare const h3: H3;
declare const serve: typeof serveHono;

export function nodeServers(): void {
  createServer(node).on('checkContinue', node);
  https(node);
  http2(node);
  secure({ allowHTTP1: true }, node);
}

export function expressApps(router: express.Router): void {
  const forFive: express.RequestHandler = forExpress;
  const forFour: express4.RequestHandler = forExpress;
  five.use(forExpress).use('/api', forFive).post('/api/plants', expressRoute);
  four.use(forExpress).use('/api', forFour).post('/api/plants', expressRoute);
  router.use('/v1', forExpress);
}

export function koaApps(): void {
  const middleware: [Koa.Middleware, Koa2.Middleware] = [koa, koa];
  three.use(koa).use(middleware[0]);
  two.use(koa).use(middleware[1]);
  koaRouter.post('/api/plants', koaRoute);
}

export function fastifyApps(): void {
  const plugin: FastifyPluginCallback = fastify;
  fastifyApp.register(plugin, { prefix: '/api' });
  fastifyApp.register(fastify, { prefix: '/api' });
  fastifyOnHttp2.register(fastify, { prefix: '/api' });
}

export function fetchHosts(): void {
  hono.mount('/api', fetch).post('/api/plants', (context) => route(context.req.raw));
  h3.mount('/api', fetch).post('/api/plants', (event) => route(event.req));
  serve({ fetch });
  // Bun.serve, Deno.serve and Workers, as their own types have them.
  const bun: (request: Request, server: { stop(): void }) => Response | Promise<Response> = fetch;
  const deno: (request: Request, info: { remoteAddr: object }) => Response | Promise<Response> = fetch;
  const worker: {
    fetch(
      request: Request,
      env: object,
      context: { waitUntil(p: Promise<unknown>): void },
    ): Response | Promise<Response>;
  } = { fetch };
  // The type that Next generates for a route file.
  class NextRequest extends Request {
    readonly nextUrl = new URL(this.url);
  }
  const next: (
    request: NextRequest,
    context: { params: Promise<object> },
  ) => Response | undefined | Promise<Response | undefined> = route;
  void [bun, deno, worker, next];
}

export function withoutAdapter(): void {
  // @ts-expect-error
  five.use('/api', handle);
  // @ts-expect-error
  five.post('/api/plants', handle);
  // @ts-expect-error
  createServer(handle);
  // @ts-expect-error
  three.use(handle);
  // @ts-expect-error
  koaRouter.post('/api/plants', handle);
  // @ts-expect-error
  fastifyApp.register(handle);
  // @ts-expect-error
  fastifyApp.post('/api/plants', handle);
  // @ts-expect-error
  hono.mount('/api', handle);
  // @ts-expect-error
  serve({ fetch: handle });
}

export function withoutHandler(): void {
  // @ts-expect-error
  five.use('/api', toExpress);
  // @ts-expect-error
  createServer(toNode);
  // @ts-expect-error
  three.use(toKoa);
  // @ts-expect-error
  fastifyApp.register(toFastify);
  // @ts-expect-error
  hono.mount('/api', toFetch);
  // @ts-expect-error
  serve({ fetch: toFetch });
}

/** In Fastify a route and a plugin are two words. */
export function inFastify(): void {
  fastifyApp.register(toFastify(handle), { prefix: '/api' });
  fastifyApp.get('/api/plants/:id', fastifyRoute);
  fastifyApp.route({ method: 'GET', url: '/api/plants/:id', handler: fastifyRoute });
  // @ts-expect-error
  fastifyApp.get('/api/plants/:id', toFastify(handle));
  // @ts-expect-error
  fastifyApp.get('/api/plants/:id', toExpress(handle));
}

/** `toFetch(handle)` compiles in Express and Koa, because a fetch host may pass anything behind the request. */
export function anothersHost(): void {
  // @ts-expect-error
  five.use('/api', toKoa(handle));
  // @ts-expect-error
  three.use(toExpress(handle));
  // @ts-expect-error
  createServer(toKoa(handle));
}
