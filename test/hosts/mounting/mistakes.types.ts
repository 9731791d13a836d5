/** A mount without an adapter, or an adapter without a handler, does not compile: checked by `tsc`, never run. */
import { createServer } from 'node:http';
import type { serve as serveHono } from '@hono/node-server';
import type Router from '@koa/router';
import type express from 'express';
import type express4 from 'express4';
import type { FastifyInstance } from 'fastify';
import type { H3 } from 'h3';
import type { Hono } from 'hono';
import type Koa from 'koa';
import type Koa2 from 'koa2';
import {
  createPlantStore,
  guard,
  type PlantHandler,
  type PlantRequest,
  type PlantResponse,
} from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { toNode } from 'plant-store/node';

declare const handle: PlantHandler;

export function withoutAdapter(
  five: express.Express,
  four: express4.Express,
  three: Koa,
  two: Koa2,
  router: Router,
  fastify: FastifyInstance,
  hono: Hono,
  h3: H3,
  serve: typeof serveHono,
): void {
  // @ts-expect-error
  five.use('/api', handle);
  // @ts-expect-error
  five.use(handle);
  // @ts-expect-error
  five.post('/api/plants', handle);
  // @ts-expect-error
  four.use('/api', handle);
  // @ts-expect-error
  four.use(handle);
  // @ts-expect-error
  four.post('/api/plants', handle);
  // @ts-expect-error
  createServer(handle);
  // @ts-expect-error
  three.use(handle);
  // @ts-expect-error
  two.use(handle);
  // @ts-expect-error
  router.post('/api/plants', handle);
  // @ts-expect-error
  fastify.register(handle);
  // @ts-expect-error
  fastify.post('/api/plants', handle);
  // @ts-expect-error
  hono.mount('/api', handle);
  // @ts-expect-error
  hono.post('/api/plants', handle);
  // @ts-expect-error
  h3.mount('/api', handle);
  // @ts-expect-error
  serve({ fetch: handle });
}

export function withoutHandler(
  five: express.Express,
  four: express4.Express,
  three: Koa,
  two: Koa2,
  fastify: FastifyInstance,
  hono: Hono,
  serve: typeof serveHono,
): void {
  // @ts-expect-error
  five.use('/api', toExpress);
  // @ts-expect-error
  five.use(toExpress);
  // @ts-expect-error
  five.post('/api/plants', toExpress);
  // @ts-expect-error
  four.use('/api', toExpress);
  // @ts-expect-error
  four.use(toExpress);
  // @ts-expect-error
  four.post('/api/plants', toExpress);
  // @ts-expect-error
  createServer(toNode);
  // @ts-expect-error
  three.use(toKoa);
  // @ts-expect-error
  two.use(toKoa);
  // @ts-expect-error
  fastify.register(toFastify);
  // @ts-expect-error
  hono.mount('/api', toFetch);
  // @ts-expect-error
  serve({ fetch: toFetch });
}

export function anotherArgument(): void {
  // @ts-expect-error
  toNode(undefined);
  // @ts-expect-error
  toExpress('x');
  // @ts-expect-error
  toKoa(createPlantStore);
  // @ts-expect-error
  toExpress(guard);
  // @ts-expect-error
  toFastify(toExpress(handle));
  // @ts-expect-error
  toFetch(toFetch(handle));
}

/** Fastify's adapter returns a plugin that is a route's handler too, with one name for each. */
export function inFastify(fastify: FastifyInstance): void {
  fastify.register(toFastify(handle), { prefix: '/api' });
  fastify.get('/api/plants/:id', toFastify(handle));
  fastify.route({ method: 'GET', url: '/api/plants/:id', handler: toFastify(handle) });
  // @ts-expect-error
  fastify.get('/api/plants/:id', toExpress(handle));
}

/** `toFetch(handle)` compiles in Express and Koa, because a fetch host may pass anything behind the request. */
export function anothersHost(five: express.Express, four: express4.Express, three: Koa): void {
  // @ts-expect-error
  five.use('/api', toKoa(handle));
  // @ts-expect-error
  four.use('/api', toKoa(handle));
  // @ts-expect-error
  three.use(toExpress(handle));
  // @ts-expect-error
  createServer(toKoa(handle));
}

/** What else is done with a handler compiles as before. */
export async function wellUsed(requests: PlantRequest[]): Promise<PlantResponse[]> {
  const logged: PlantHandler = async (request) => {
    const response = await handle(request);
    console.log(request.method, response.status);
    return response;
  };
  const plain: (request: PlantRequest) => Promise<PlantResponse> = handle;
  await Promise.all([logged, plain].map((one) => one(requests[0]!)));
  return Promise.all(requests.map(handle));
}
