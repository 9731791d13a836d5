/**
 * The hosts on Node that have an adapter, and h3, as a table: to test a new mount is to add a row. Others are in
 * `test/ecosystem/hosts.ts`. Each row is the real package behind a real socket. Around the mount is an app that returns 418
 * to every request that falls through the mount, unless a test puts something else there.
 */
import {
  createServer as createHttp,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttp2, createSecureServer } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import Router from '@koa/router';
import express from 'express';
import express4 from 'express4';
import Fastify, { type FastifyInstance, type RouteHandlerMethod } from 'fastify';
import { H3, toNodeHandler } from 'h3';
import { Hono, type MiddlewareHandler } from 'hono';
import Koa from 'koa';
import mount from 'koa-mount';
import Koa2 from 'koa2';
import type { PlantHandler } from 'plant-store';
import { toExpress, toRoute as toExpressRoute } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch, toRoute } from 'plant-store/fetch';
import { toKoa, toRoute as toKoaRoute } from 'plant-store/koa';
import { toNode } from 'plant-store/node';
import { certificate } from '../support/certificate.js';
import { listen, type Running } from '../support/sockets.js';

export interface Host {
  readonly name: string;
  /** For `createPlantStore`, if the host does not strip the prefix from the URL. */
  readonly basePath?: string;
  /** Who answers other paths and methods: the app with its 418, or the framework in its words. Default: the library. */
  readonly others?: 'the app' | 'the framework';
  /** Cases in which the host normalises the path by its own rules, and the status that comes of it. */
  readonly quirks?: Readonly<Record<string, number>>;
  /** Whether `start` puts around the mount what a test gives it: the row then runs the tests of an app around the mount. */
  readonly hasApp?: true;
  /** The file in `adapters/hosts/` that this row stands for in tests that take long: one row for each, its plainest mount. */
  readonly represents?: string;
  readonly start: Start;
}

export type Start = (handle: PlantHandler, around?: Around) => Promise<Running>;

/** What a test puts around the mount: on Node, in Express, Koa, Fastify, h3 and Hono. */
export interface Around {
  /** Middleware in front of the mount, which calls `next` when it likes. */
  readonly before?: Before;
  /** The app's own responses to what falls through. */
  readonly own?: (request: IncomingMessage, url: string) => Own | Promise<Own>;
  /** Gets what the host's error handler gets, which responds 500. */
  readonly onError?: (error: unknown) => void;
  /** The adapters, if the test has loaded them anew. */
  readonly adapters?: typeof adapters;
}

/** @param parsed where body parsers of this host leave `body` and `rawBody` */
export type Before = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => unknown,
  parsed: object,
) => unknown;

export interface Own {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

const adapters = { toNode, toExpress, toExpressRoute, toKoa, toKoaRoute, toFastify, toFetch };

/** What the app around the mount answers to everything it gets. */
export const theApp = { status: 418, text: 'the app' };

/** The routers of Express and Koa take a slash at the end, and any letter case. */
const matchedByRouter = { 'path-slash': 200, 'path-case': 200 };

/** The app's own response to what falls through. */
const respond = async ({ own }: Around, request: IncomingMessage, url: string): Promise<Own> =>
  own ? own(request, url) : { status: theApp.status, body: theApp.text };

const onNode =
  (hasApp: boolean): Start =>
  (handle, around = {}) => {
    const { before = (_request, _response, next) => next() } = around;
    const plants = (around.adapters ?? adapters).toNode(handle);
    const mounted = (request: IncomingMessage, response: ServerResponse) => {
      if (!hasApp) return plants(request, response);
      plants(request, response, (error) => {
        (error ? Promise.reject(error) : respond(around, request, request.url!)).then(
          ({ status, headers, body }) => response.writeHead(status, headers).end(body),
          (error) => fail(error, around, response).writeHead(500).end(),
        );
      });
    };
    return listen(
      createHttp((request, response) => before(request, response, () => mounted(request, response), request)),
    );
  };

/** The response without the headers that it had when it failed. */
function fail(error: unknown, { onError }: Around, response: ServerResponse): ServerResponse {
  onError?.(error);
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  return response;
}

/** @param route the same as the handler of a route */
type Place<App, Plants> = (app: App, plants: Plants, route: Plants) => unknown;

export const onExpress =
  (make: typeof express, place: Place<express.Express, express.RequestHandler>, path = ''): Start =>
  (handle, around = {}) => {
    const { before, onError } = around;
    const app = make();
    if (before) app.use((request, response, next) => before(request, response, next, request));
    const { toExpress, toExpressRoute } = around.adapters ?? adapters;
    place(app, toExpress(handle), toExpressRoute(handle));
    app.use((request, response, next) => {
      respond(around, request, request.originalUrl)
        .then(({ status, headers = {}, body }) => response.status(status).set(headers).send(body))
        .catch(next);
    });
    const onFailure: express.ErrorRequestHandler = (error, _request, response, _next) =>
      void (fail(error, around, response) as express.Response).sendStatus(500);
    if (onError) app.use(onFailure);
    return listen(createHttp(app), 'http:', path);
  };

export const onKoa =
  (
    Make: typeof Koa,
    place: (plants: Koa.Middleware, route: Koa.Middleware) => Koa.Middleware | Koa.Middleware[],
    path = '',
  ): Start =>
  (handle, around = {}) => {
    const { before, onError } = around;
    const app = new Make();
    const inFront: Koa.Middleware = ({ req, res, request }, next) =>
      new Promise((resolve, reject) => before?.(req, res, () => next().then(resolve, reject), request));
    if (before) app.use(inFront);
    const { toKoa, toKoaRoute } = around.adapters ?? adapters;
    for (const middleware of [place(toKoa(handle), toKoaRoute(handle))].flat()) app.use(middleware);
    app.use(async (context) => {
      const { status, headers = {}, body } = await respond(around, context.req, context.originalUrl);
      context.set(headers);
      context.body = body;
      context.status = status;
    });
    // Otherwise Koa logs every client that disconnects.
    app.silent = true;
    if (onError) app.on('error', onError);
    return listen(createHttp(app.callback()), 'http:', path);
  };

export const onFastify =
  (make: () => FastifyInstance, prefix: string, protocol = 'http:'): Start =>
  async (handle, around = {}) => {
    const { before, own, onError } = around;
    const app = make();
    if (before) app.addHook('onRequest', ({ raw }, reply, done) => void before(raw, reply.raw, done, raw));
    app.register((around.adapters ?? adapters).toFastify(handle), { prefix });
    const ownRoute: RouteHandlerMethod = async ({ raw, url }, reply) => {
      const { status, headers = {}, body } = await respond(around, raw, url);
      return reply.code(status).headers(headers).send(body);
    };
    app.setNotFoundHandler(ownRoute);
    if (own) {
      // The app reads the body itself.
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', (_request, _payload, done) => done(null));
      app.all('*', ownRoute);
    }
    if (onError)
      app.setErrorHandler((error, _request, reply) => {
        fail(error, around, reply.raw);
        return reply.code(500).send('failed');
      });
    await app.ready();
    return listen(app.server, protocol, prefix);
  };

/** The routes of @koa/router, whose types are not Koa's own, as a middleware. */
export const routesOf = (router: Router) => router.routes() as unknown as Koa.Middleware;

const onH3 =
  (place: (app: H3, plants: ReturnType<typeof toFetch>) => unknown, adapter = toFetch): Start =>
  (handle, { onError } = {}) => {
    const app = new H3({ silent: true, onError: ({ cause }) => onError?.(cause) });
    place(app, adapter(handle));
    app.all('/**', () => new Response(theApp.text, { status: theApp.status }));
    return listen(createHttp(toNodeHandler(app) as RequestListener), 'http:', '/api');
  };

export const onHono =
  (
    place: (app: Hono, plants: ReturnType<typeof toFetch>) => unknown,
    adapter = toFetch,
    options = {},
  ): Start =>
  (handle, around) => {
    const { before, onError } = around ?? {};
    const app = new Hono<{ Bindings: HttpBindings }>(options);
    const inFront: MiddlewareHandler<{ Bindings: HttpBindings }> = ({ env: { incoming, outgoing } }, next) =>
      new Promise((resolve, reject) =>
        before?.(incoming, outgoing, () => next().then(resolve, reject), incoming),
      );
    if (before) app.use(inFront);
    place(app as unknown as Hono, adapter(handle));
    app.all('*', (context) => context.text(theApp.text, theApp.status as 418));
    if (onError)
      app.onError((error, context) => {
        onError(error);
        return context.text('failed', 500);
      });
    // It replaces the global Request and Response only for the table, which runs in a process of its own.
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: !around });
    return listen(createHttp(listener), 'http:', '/api');
  };

export const expresses = { 'Express 5': express, 'Express 4': express4 as unknown as typeof express };
export const koas = { 'Koa 3': Koa, 'Koa 2': Koa2 as unknown as typeof Koa };

const fastifyApps = [
  { name: 'Fastify 5', make: () => Fastify() as FastifyInstance, protocol: 'http:' },
  {
    name: 'Fastify 5 on HTTP/2',
    make: () => Fastify({ http2: true }) as unknown as FastifyInstance,
    protocol: 'h2c:',
  },
];

export const hosts: readonly Host[] = [
  { name: 'node:http', represents: 'node', start: onNode(false) },
  { name: 'node:https', start: (handle) => listen(createHttps(certificate, toNode(handle)), 'https:') },
  {
    name: 'node:http2',
    represents: 'fetch',
    start: (handle) => listen(createHttp2(toNode(handle)), 'h2c:'),
  },
  { name: 'node:http with a next', others: 'the app', hasApp: true, start: onNode(true) },
  ...Object.entries(expresses).flatMap(([name, make]): Host[] => [
    {
      name: `${name}, at the root`,
      others: 'the app',
      hasApp: true,
      ...(make === express && { represents: 'express' }),
      start: onExpress(make, (app, plants) => app.use(plants)),
    },
    {
      name: `${name}, under a path`,
      others: 'the app',
      start: onExpress(make, (app, plants) => app.use('/api', plants), '/api'),
    },
    {
      name: `${name}, in nested routers`,
      others: 'the app',
      start: onExpress(
        make,
        (app, plants) => app.use('/api', make.Router().use(make.Router().use('/v1', plants))),
        '/api/v1',
      ),
    },
    {
      name: `${name}, as a route`,
      others: 'the app',
      quirks: matchedByRouter,
      start: onExpress(make, (app, _plants, route) => app.post('/api/plants', route), '/api'),
    },
  ]),
  ...Object.entries(koas).flatMap(([name, Make]): Host[] => [
    {
      name: `${name}, plain`,
      others: 'the app',
      hasApp: true,
      ...(Make === Koa && { represents: 'koa' }),
      start: onKoa(Make, (plants) => plants),
    },
    {
      name: `${name}, under koa-mount`,
      others: 'the app',
      start: onKoa(Make, (plants) => mount('/api', plants), '/api'),
    },
    {
      name: `${name}, in a @koa/router`,
      others: 'the app',
      quirks: matchedByRouter,
      start: onKoa(
        Make,
        (_plants, route) => routesOf(new Router().post('/api/plants', route as never)),
        '/api',
      ),
    },
  ]),
  ...fastifyApps.flatMap(({ name, make, protocol }): Host[] => [
    {
      name: `${name}, at the root`,
      others: 'the app',
      ...(protocol === 'http:' && { hasApp: true, represents: 'fastify' }),
      start: onFastify(make, '', protocol),
    },
    { name: `${name}, under a prefix`, others: 'the app', start: onFastify(make, '/api', protocol) },
  ]),
  {
    name: 'h3, by route',
    // h3's router ignores a slash at the end.
    quirks: { 'path-slash': 200 },
    others: 'the app',
    start: onH3((app, plants) => app.post('/api/plants', (event) => plants(event.req)), toRoute),
  },
  {
    name: 'h3, by route with toFetch and basePath',
    basePath: '/api',
    // The library has no next handler to call.
    quirks: { 'path-slash': 404 },
    others: 'the app',
    start: onH3((app, plants) => app.post('/api/plants', (event) => plants(event.req))),
  },
  {
    name: 'h3, by app.mount',
    // h3 itself refuses an empty segment.
    quirks: { 'path-double-slash': 404 },
    start: onH3((app, plants) => app.mount('/api', plants)),
  },
];

/** For the contract table alone: HTTP/2 with TLS. */
export const moreHosts: readonly Host[] = [
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
    others: 'the app',
    represents: 'fetch',
    start: onHono((app, plants) => app.post('/api/plants', (context) => plants(context.req.raw)), toRoute),
  },
  {
    name: 'Hono, by route, strict: false',
    others: 'the app',
    quirks: { 'path-slash': 200 },
    start: onHono((app, plants) => app.post('/api/plants', (context) => plants(context.req.raw)), toRoute, {
      strict: false,
    }),
  },
  {
    name: 'Hono, by route with toFetch and basePath',
    basePath: '/api',
    others: 'the app',
    start: onHono((app, plants) => app.post('/api/plants', (context) => plants(context.req.raw))),
  },
  { name: 'Hono, by app.mount', start: onHono((app, plants) => app.mount('/api', plants)) },
];

const everyHost: readonly Host[] = [...hosts, ...honoHosts];

export const hostNamed = (name: string): Host => everyHost.find((host) => host.name === name)!;

/** A row for each framework on Node that has an app around the mount. */
export const appHosts = hosts.filter(({ hasApp }) => hasApp);

/** One mount of each host: for promises in which its path, and the line that mounts it, have no part. */
export const oneMountOfEach = everyHost.filter(
  ({ name }) => !/under|nested|as a route|@koa|strict|basePath/.test(name),
);

/** A row of the table for each adapter, and one for HTTP/2, for tests that take long. */
export const oneOfEachAdapter = everyHost.filter(({ represents }) => represents);
