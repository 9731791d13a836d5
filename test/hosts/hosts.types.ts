/**
 * What each adapter returns fits the host's own handler type without a cast. `tsc` checks this file, nothing runs it.
 * The last block shows that the check can fail.
 */
import type { createServer } from 'node:http';
import type { createServer as createHttp2, createSecureServer } from 'node:http2';
import type { createServer as createHttps } from 'node:https';
import type { app as azure, HttpRequest } from '@azure/functions';
import type { serve as serveHono } from '@hono/node-server';
import type Router from '@koa/router';
import type { INestApplication } from '@nestjs/common';
import type express from 'express';
import type express4 from 'express4';
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import type { H3 } from 'h3';
import type { Hono } from 'hono';
import type Koa from 'koa';
import type Koa2 from 'koa2';
import type { toExpress } from 'plant-store/express';
import type { toFastify } from 'plant-store/fastify';
import type { toFetch } from 'plant-store/fetch';
import type { toKoa } from 'plant-store/koa';
import type { toNode } from 'plant-store/node';

declare const node: ReturnType<typeof toNode>;
declare const forExpress: ReturnType<typeof toExpress>;
declare const koa: ReturnType<typeof toKoa>;
declare const fastify: ReturnType<typeof toFastify>;
declare const fetch: ReturnType<typeof toFetch>;

export function nodeServers(
  http: typeof createServer,
  https: typeof createHttps,
  http2: typeof createHttp2,
  secure: typeof createSecureServer,
): void {
  http(node).on('checkContinue', node);
  https(node);
  http2(node);
  secure({ allowHTTP1: true }, node);
}

export function expressApps(five: express.Express, four: express4.Express, router: express.Router): void {
  const forFive: express.RequestHandler = forExpress;
  const forFour: express4.RequestHandler = forExpress;
  five.use(forExpress).use('/api', forFive).post('/api/plants', forExpress);
  four.use(forExpress).use('/api', forFour).post('/api/plants', forExpress);
  router.use('/v1', forExpress);
}

export function koaApps(three: Koa, two: Koa2, router: Router): void {
  const middleware: [Koa.Middleware, Koa2.Middleware] = [koa, koa];
  three.use(koa).use(middleware[0]);
  two.use(koa).use(middleware[1]);
  router.post('/api/plants', koa);
}

export function fastifyApps(app: FastifyInstance, http2: import('node:http2').Http2Server): void {
  const plugin: FastifyPluginCallback = fastify;
  app.register(plugin, { prefix: '/api' });
  app.register(fastify, { prefix: '/api' });
  const on2 = {} as FastifyInstance<
    typeof http2,
    import('node:http2').Http2ServerRequest,
    import('node:http2').Http2ServerResponse
  >;
  on2.register(fastify, { prefix: '/api' });
}

export async function azureFunctions(app: typeof azure): Promise<void> {
  app.http('plants', {
    methods: ['POST'],
    handler: async (request: HttpRequest) => {
      const answer = await fetch(request);
      return { status: answer.status, headers: answer.headers, body: await answer.text() };
    },
  });
}

export function nestApps(app: INestApplication): void {
  app.use('/api', forExpress);
}

export function fetchHosts(hono: Hono, h3: H3, serve: typeof serveHono): void {
  hono.mount('/api', fetch).post('/api/plants', (context) => fetch(context.req.raw));
  h3.mount('/api', fetch).post('/api/plants', (event) => fetch(event.req));
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
  ) => Response | undefined | Promise<Response | undefined> = fetch;
  void [bun, deno, worker, next];
}

// A handler that needs more than any host gives does not compile, so the lines above do not pass as `any`.
declare const demanding: (request: { readonly missing: 1 }) => Promise<Response>;
// @ts-expect-error: Express has no such request
export const refusedByExpress: express.RequestHandler = demanding;
// @ts-expect-error: Koa has no such request
export const refusedByKoa: Koa.Middleware = demanding;
// @ts-expect-error: a fetch host has no such request
export const refusedByFetch: (request: Request) => Promise<Response> = demanding;
// @ts-expect-error: a response is not a string
export const notAny: string = fetch(new Request('http://localhost'));
