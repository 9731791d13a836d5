/**
 * Every host on Node, as a table: to test a new mount is to add a row. Each row is the real package behind a real
 * socket. Around the mount is an app that returns 418 to every request that falls through the mount.
 */
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttp2, createSecureServer } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { createRequire } from 'node:module';
import type { Server } from 'node:net';
import Hapi from '@hapi/hapi';
import { getRequestListener } from '@hono/node-server';
import Router from '@koa/router';
import { All, Controller, HttpCode, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { getRequest, setResponse } from '@sveltejs/kit/node';
import express from 'express';
import express4 from 'express4';
import Fastify, { type FastifyInstance } from 'fastify';
import { H3, toNodeHandler } from 'h3';
import { Hono } from 'hono';
import Koa from 'koa';
import mount from 'koa-mount';
import Koa2 from 'koa2';
import type { PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { toNode } from 'plant-store/node';
import { certificate } from '../support/certificate.js';
import { listen, type Running } from '../support/sockets.js';
import { serveNext } from './next.js';

// Not imported: its types bring the browser's globals along, and the whole project would be checked with them.
const { createServerAdapter } = createRequire(import.meta.url)('@whatwg-node/server') as {
  createServerAdapter: (fetch: ReturnType<typeof toFetch>) => RequestListener;
};

export interface Host {
  readonly name: string;
  /** For `createPlantStore`, if the host does not strip the prefix from the URL. */
  readonly basePath?: string;
  /** Who answers other paths and methods: the app with its 418, or the host itself. Default: the library. */
  readonly others?: 'the app' | 'the host';
  /** Cases in which the host normalises the path by its own rules, and the status that comes of it. */
  readonly quirks?: Readonly<Record<string, number>>;
  readonly start: (handle: PlantHandler) => Promise<Running>;
}

/** What the app around the mount answers to everything it gets. */
export const theApp = { status: 418, text: 'the app' };

/** Express 4 strips `/api/` from `/api//plants`, Express 5 strips `/api`. */
const takesOneSlashMore = { 'path-double-slash': 200 };

export const hosts: readonly Host[] = [
  { name: 'node:http', start: (handle) => listen(createHttp(toNode(handle))) },
  { name: 'node:https', start: (handle) => listen(createHttps(certificate, toNode(handle)), 'https:') },
  { name: 'node:http2', start: (handle) => listen(createHttp2(toNode(handle)), 'h2c:') },
  {
    name: 'node:http with a next',
    others: 'the app',
    start: (handle) => {
      const middleware = toNode(handle);
      return listen(
        createHttp((request, response) =>
          middleware(request, response, () => response.writeHead(theApp.status).end(theApp.text)),
        ),
      );
    },
  },
  ...[
    { name: 'Express 5', make: express },
    { name: 'Express 4', make: express4 as unknown as typeof express },
  ].flatMap(({ name, make }): Host[] => {
    const around = (app: express.Express) => {
      app.use((_request, response) => void response.status(theApp.status).send(theApp.text));
      return createHttp(app);
    };
    return [
      {
        name: `${name}, at the root`,
        others: 'the app',
        start: (handle) => listen(around(make().use(toExpress(handle)))),
      },
      {
        name: `${name}, under a path`,
        others: 'the app',
        ...(make === express ? {} : { quirks: takesOneSlashMore }),
        start: (handle) => listen(around(make().use('/api', toExpress(handle))), 'http:', '/api'),
      },
      {
        name: `${name}, in nested routers`,
        others: 'the app',
        ...(make === express ? {} : { quirks: takesOneSlashMore }),
        start: (handle) => {
          const inner = make.Router().use('/v1', toExpress(handle));
          return listen(around(make().use('/api', make.Router().use(inner))), 'http:', '/api/v1');
        },
      },
      {
        name: `${name}, as the handler of one route`,
        basePath: '/api',
        others: 'the app',
        start: (handle) => listen(around(make().post('/api/plants', toExpress(handle))), 'http:', '/api'),
      },
    ];
  }),
  ...[
    { name: 'Koa 3', Make: Koa },
    { name: 'Koa 2', Make: Koa2 as unknown as typeof Koa },
  ].flatMap(({ name, Make }): Host[] => {
    const around = (middleware: Koa.Middleware) => {
      const app = new Make().use(middleware).use((context) => {
        context.status = theApp.status;
        context.body = theApp.text;
      });
      // Otherwise Koa logs every client that disconnects.
      app.silent = true;
      return createHttp(app.callback());
    };
    return [
      { name: `${name}, plain`, others: 'the app', start: (handle) => listen(around(toKoa(handle))) },
      {
        name: `${name}, under koa-mount`,
        others: 'the app',
        start: (handle) => listen(around(mount('/api', toKoa(handle))), 'http:', '/api'),
      },
      {
        name: `${name}, in a @koa/router`,
        basePath: '/api',
        others: 'the app',
        start: (handle) => {
          const router = new Router().post('/api/plants', toKoa(handle));
          return listen(around(router.routes() as unknown as Koa.Middleware), 'http:', '/api');
        },
      },
    ];
  }),
  ...[
    { name: 'Fastify 5', make: () => Fastify() as FastifyInstance, protocol: 'http:' },
    {
      name: 'Fastify 5 on HTTP/2',
      make: () => Fastify({ http2: true }) as unknown as FastifyInstance,
      protocol: 'h2c:',
    },
  ].flatMap(({ name, make, protocol }): Host[] => {
    const start = async (handle: PlantHandler, prefix: string): Promise<Running> => {
      const app = make();
      app.register(toFastify(handle), { prefix });
      app.setNotFoundHandler((_request, reply) => reply.code(theApp.status).send(theApp.text));
      await app.ready();
      return listen(app.server, protocol, prefix);
    };
    return [
      { name: `${name}, at the root`, others: 'the app', start: (handle) => start(handle, '') },
      { name: `${name}, under a prefix`, others: 'the app', start: (handle) => start(handle, '/api') },
    ];
  }),
  {
    name: 'h3, by route',
    basePath: '/api',
    // h3's router ignores a slash at the end, and the library has no next handler to call.
    quirks: { 'path-slash': 404 },
    others: 'the app',
    start: (handle) => {
      const fetch = toFetch(handle);
      return listen(h3(new H3().post('/api/plants', (event) => fetch(event.req))), 'http:', '/api');
    },
  },
  {
    name: 'h3, by app.mount',
    // h3 itself refuses an empty segment.
    quirks: { 'path-double-slash': 404 },
    start: (handle) => listen(h3(new H3().mount('/api', toFetch(handle))), 'http:', '/api'),
  },
  {
    name: 'whatwg-node, as in GraphQL Yoga',
    start: (handle) => listen(createHttp(createServerAdapter(toFetch(handle)))),
  },
  { name: "Remix' server", start: (handle) => listen(createHttp(createRequestListener(toFetch(handle)))) },
  {
    name: "SvelteKit's adapter for Node",
    start: (handle) => {
      const fetch = toFetch(handle);
      return listen(
        createHttp(async (request, response) => {
          const answer = await fetch(await getRequest({ request, base: 'http://localhost' }));
          setResponse(response, answer as Response);
        }),
      );
    },
  },
  {
    name: 'Next, a route handler',
    basePath: '/api',
    others: 'the host',
    start: (handle) => listen(createHttp(serveNext({ route: { POST: toFetch(handle) } })), 'http:', '/api'),
  },
  {
    name: 'Next, an API route of pages',
    basePath: '/api',
    others: 'the host',
    start: (handle) =>
      listen(
        createHttp(serveNext({ page: { default: toNode(handle), config: { api: { bodyParser: false } } } })),
        'http:',
        '/api',
      ),
  },
  {
    name: 'Hapi',
    basePath: '/api',
    others: 'the app',
    start: async (handle) => {
      const plants = toNode(handle);
      const app = Hapi.server();
      app.ext('onRequest', ({ raw }, h) => {
        return new Promise((resolve) => {
          raw.res.once('close', () => resolve(h.abandon));
          plants(raw.req, raw.res, () => resolve(h.continue));
        });
      });
      app.ext('onPreResponse', (_request, h) => h.response(theApp.text).code(theApp.status));
      await app.initialize();
      return listen(app.listener, 'http:', '/api');
    },
  },
  {
    name: 'NestJS on Fastify',
    others: 'the app',
    start: async (handle) => {
      const adapter = new FastifyAdapter();
      const app = await NestFactory.create<NestFastifyApplication>(EmptyNestModule, adapter, {
        logger: false,
      });
      await app.register(toFastify(handle), { prefix: '/api' });
      app.useGlobalFilters({
        catch: (_error, host) => adapter.reply(host.switchToHttp().getResponse(), theApp.text, theApp.status),
      });
      await app.init();
      await adapter.getInstance().ready();
      return listen(app.getHttpServer(), 'http:', '/api');
    },
  },
  ...[{ rawBody: false }, { rawBody: true }].map(
    (options): Host => ({
      name: `NestJS${options.rawBody ? ' with rawBody' : ''}`,
      others: 'the app',
      start: async (handle) => {
        const app = await NestFactory.create(nestModule, { ...options, logger: false });
        app.use('/api', toExpress(handle));
        await app.init();
        return listen(app.getHttpServer(), 'http:', '/api');
      },
    }),
  ),
];

/** HTTP/2 over TLS, as browsers speak it, and HTTP/1.1 on the same server. */
export const secureHosts: readonly Host[] = [
  {
    name: 'node:http2 with TLS',
    start: (handle) => listen(createSecureServer(certificate, toNode(handle)), 'h2:'),
  },
  {
    name: 'node:http2 with TLS, asked by HTTP/1.1',
    start: (handle) =>
      listen(createSecureServer({ ...certificate, allowHTTP1: true }, toNode(handle)), 'https:'),
  },
];

export const honoHosts: readonly Host[] = [
  {
    name: 'Hono, by route',
    basePath: '/api',
    others: 'the app',
    start: (handle) => {
      const fetch = toFetch(handle);
      return listen(
        hono(new Hono().post('/api/plants', (context) => fetch(context.req.raw))),
        'http:',
        '/api',
      );
    },
  },
  {
    name: 'Hono, by app.mount',
    start: (handle) => listen(hono(new Hono().mount('/api', toFetch(handle))), 'http:', '/api'),
  },
];

export const everyHost: readonly Host[] = [...hosts, ...honoHosts];

/** A row of the table for each adapter, for tests that take long. */
export const oneOfEachAdapter = everyHost.filter(({ name }) =>
  /^(node:http2?|Express 5, at the root|Koa 3, plain|Fastify 5, at the root|Hono, by route)$/.test(name),
);

function hono(app: Hono): Server {
  app.all('*', (context) => context.text(theApp.text, theApp.status as 418));
  return createHttp(getRequestListener(app.fetch));
}

function h3(app: H3): Server {
  app.all('/**', () => new Response(theApp.text, { status: theApp.status }));
  return createHttp(toNodeHandler(app) as RequestListener);
}

/** A Nest app that answers everything. Its decorators are called as functions: the syntax needs a compiler option. */
export class NestModule {}
class RestOfTheApp {
  answer(): string {
    return theApp.text;
  }
}
const described = Object.getOwnPropertyDescriptor(RestOfTheApp.prototype, 'answer')!;
All('*rest')(RestOfTheApp.prototype, 'answer', described);
HttpCode(theApp.status)(RestOfTheApp.prototype, 'answer', described);
Controller()(RestOfTheApp);
Module({ controllers: [RestOfTheApp] })(NestModule);
const nestModule = NestModule;

class EmptyNestModule {}
Module({})(EmptyNestModule);
