// Every mount that the pages show, a guard of the app by path in front of it, and each spelling of the path: a request that the
// guard does not see is never served. A middleware serves one spelling, with or without a guard.
import { createServer, type RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import Router from '@koa/router';
import type express from 'express';
import Fastify, { type FastifyInstance } from 'fastify';
import { H3, toNodeHandler } from 'h3';
import { Hono } from 'hono';
import type Koa from 'koa';
import mount from 'koa-mount';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { toFetch, toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen, type Running, raw, Wire } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { expresses, hostNamed, koas, onExpress, onKoa, routesOf } from '../hosts.js';
import { json } from '../node/server.js';
import { absolute, exact, others } from './spellings.js';

interface Mount {
  readonly name: string;
  /** The path before `/plants` that a client sends. */
  readonly at: string;
  readonly basePath?: string;
  /** Paths that are the operation's own, too: those of another tenant. */
  readonly isOperation?: RegExp;
  /** A route leaves the path to its router, which takes more spellings: only what a guard denies is asked. */
  readonly isRoute?: boolean;
  /** Spellings that the router of the route finds, and the app's guard does not: the host swallows a slash of theirs. */
  readonly swallows?: RegExp;
  /** Starts the app, with the guard in front of the mount if it is to be guarded. */
  readonly start: (handle: PlantHandler, isGuarded: boolean) => Promise<Running>;
}

/** The parameter may be any segment. */
const ofTenant = /^(http:\/\/localhost)?\/[^/\\]+\/plants$/;

const deny: express.RequestHandler = (_request, response) => void response.status(403).send('denied');
/** Rewrites the front of a path, as Express documents it. */
const rewrite: express.RequestHandler = (request, _response, next) => {
  if (request.url.startsWith('/v1')) request.url = `/api${request.url.slice(3)}`;
  next();
};

interface ExpressMount extends Pick<Mount, 'name' | 'at' | 'isRoute' | 'isOperation' | 'swallows'> {
  readonly guard: string;
  readonly place: Parameters<typeof onExpress>[1];
}

const expressMounts = (make: typeof express): ExpressMount[] => {
  const api = { at: '/api', guard: '/api/plants' };
  const tenant = { at: '/acme', guard: '/:tenant/plants', isOperation: ofTenant };
  const route = { ...api, isRoute: true };
  return [
    { name: 'at the root', at: '', guard: '/plants', place: (app, plants) => app.use(plants) },
    { name: 'under a path', ...api, place: (app, plants) => app.use('/api', plants) },
    { name: 'under a path with a slash', ...api, place: (app, plants) => app.use('/api/', plants) },
    { name: 'under a list of paths', ...api, place: (app, plants) => app.use(['/v2', '/api'], plants) },
    { name: 'under an expression', ...api, place: (app, plants) => app.use(/^\/api/, plants) },
    { name: 'in a router', ...api, place: (app, plants) => app.use('/api', make.Router().use(plants)) },
    { name: 'in an app', ...api, place: (app, plants) => app.use('/api', make().use(plants)) },
    {
      name: 'in nested routers',
      at: '/api/v1',
      guard: '/api/v1/plants',
      place: (app, plants) => app.use('/api', make.Router().use(make.Router().use('/v1', plants))),
    },
    { name: 'under a parameter', ...tenant, place: (app, plants) => app.use('/:tenant', plants) },
    {
      name: 'in a router under a parameter',
      ...tenant,
      place: (app, plants) => app.use('/:tenant', make.Router().use(plants)),
    },
    {
      name: 'under a path that the app has rewritten',
      ...api,
      at: '/v1',
      place: (app, plants) => app.use('/api', plants),
    },
    { name: 'as a route', ...route, place: (app, _, plants) => app.post('/api/plants', plants) },
    {
      name: 'as a route of a router',
      ...route,
      ...(make === expresses['Express 4'] && { swallows: /\/\/plants/ }),
      place: (app, _, plants) => app.use('/api', make.Router().post('/plants', plants)),
    },
    {
      name: 'as a route with a parameter',
      ...tenant,
      isRoute: true,
      place: (app, _, plants) => app.post('/:tenant/plants', plants),
    },
  ];
};

const onExpresses = Object.entries(expresses).flatMap(([version, make]) =>
  expressMounts(make).map(
    ({ name, guard, place, ...row }): Mount => ({
      ...row,
      name: `${version}, ${name}`,
      start: (handle, isGuarded) =>
        onExpress(make, (app, plants, route) => {
          if (row.at === '/v1') app.use(rewrite);
          if (isGuarded) app.use(guard, deny);
          place(app, plants, route);
        })(handle),
    }),
  ),
);

const denyIn: Koa.Middleware = (context) => {
  context.status = 403;
};
const denyAt =
  (path: string): Koa.Middleware =>
  (context, next) =>
    context.path === path ? denyIn(context as never, next) : next();
const shorten: Koa.Middleware = (context, next) => {
  if (context.path.startsWith('/v1/')) context.path = `/api${context.path.slice(3)}`;
  return next();
};

interface KoaMount extends Pick<Mount, 'name' | 'at' | 'basePath' | 'isRoute'> {
  readonly guard: Koa.Middleware;
  readonly place: Parameters<typeof onKoa>[1];
}

const koaMounts: KoaMount[] = [
  { name: 'plain', at: '', guard: denyAt('/plants'), place: (plants) => plants },
  {
    name: 'plain, with a basePath',
    at: '/api',
    basePath: '/api',
    guard: mount('/api/plants', denyIn),
    place: (plants) => plants,
  },
  { name: 'koa-mount', at: '/api', guard: denyAt('/api/plants'), place: (plants) => mount('/api', plants) },
  {
    name: 'koa-mount twice',
    at: '/api/v1',
    guard: mount('/api/v1/plants', denyIn),
    place: (plants) => mount('/api', mount('/v1', plants)),
  },
  {
    name: 'koa-mount of a path that the app has rewritten',
    at: '/v1',
    guard: denyAt('/v1/plants'),
    place: (plants) => [shorten, mount('/api', plants)],
  },
  {
    name: '@koa/router',
    at: '/api',
    isRoute: true,
    guard: routesOf(new Router().use('/api/plants', denyIn as never).all('/api/{*rest}', denyIn as never)),
    place: (_, route) => routesOf(new Router().post('/api/plants', route as never)),
  },
];

const onKoas = Object.entries(koas).flatMap(([version, Make]) =>
  koaMounts.map(
    ({ name, guard, place, ...row }): Mount => ({
      ...row,
      name: `${version}, ${name}`,
      start: (handle, isGuarded) =>
        onKoa(Make, (plants, route) => [...(isGuarded ? [guard] : []), place(plants, route)].flat())(handle),
    }),
  ),
);

/** A guard as a hook of the routes below a prefix, with options of the router that take more spellings. */
const onFastify = (place: (app: FastifyInstance, handle: PlantHandler) => unknown): Mount['start'] => {
  return async (handle, isGuarded) => {
    const routerOptions = { caseSensitive: false, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true };
    const app: FastifyInstance = Fastify({ routerOptions, exposeHeadRoutes: false });
    app.register(
      async (scope) => {
        if (isGuarded)
          scope.addHook('onRequest', async (request, reply) => {
            if (request.routeOptions.url === '/api/plants') await reply.code(403).send('denied');
          });
        await place(scope, handle);
      },
      { prefix: '/api' },
    );
    await app.ready();
    return listen(app.server);
  };
};

const serveFetch = (fetch: (request: Request) => Response | Promise<Response>) =>
  listen(createServer(getRequestListener(fetch, { overrideGlobalObjects: false })));

const onHono =
  (place: (app: Hono, handle: PlantHandler) => unknown): Mount['start'] =>
  (handle, isGuarded) => {
    const app = new Hono();
    if (isGuarded) app.use('/api/plants', async (context) => context.text('denied', 403));
    place(app, handle);
    return serveFetch(app.fetch);
  };

const onH3 =
  (place: (app: H3, handle: PlantHandler) => unknown): Mount['start'] =>
  (handle, isGuarded) => {
    const app = new H3({ silent: true });
    if (isGuarded) app.use('/api/plants', () => new Response('denied', { status: 403 }));
    place(app, handle);
    return listen(createServer(toNodeHandler(app) as RequestListener));
  };

/** Without a router: an app compares the path itself, with or without a query. */
const onNode: Mount['start'] = (handle, isGuarded) => {
  const paths = new Set([...exact(''), ...absolute('')].map((target) => target.replace(/\?.*/s, '')));
  return hostNamed('node:http with a next').start(handle, {
    before: (request, response, next) =>
      isGuarded && paths.has(request.url!.replace(/\?.*/s, '')) ? response.writeHead(403).end() : next(),
  });
};

const route = { at: '/api', isRoute: true };
const mounts: Mount[] = [
  ...onExpresses,
  ...onKoas,
  { name: 'node:http', at: '', start: onNode },
  { name: 'Fastify', ...route, start: onFastify((app, handle) => app.register(toFastify(handle))) },
  {
    name: 'Hono',
    ...route,
    start: onHono((app, handle) => app.post('/api/plants', (context) => toRoute(handle)(context.req.raw))),
  },
  { name: 'Hono, mounted', ...route, start: onHono((app, handle) => app.mount('/api', toFetch(handle))) },
  {
    name: 'h3',
    ...route,
    start: onH3((app, handle) => app.post('/api/plants', (event) => toRoute(handle)(event.req))),
  },
  { name: 'h3, mounted', ...route, start: onH3((app, handle) => app.mount('/api', toFetch(handle))) },
];

/** Sends each target as it is, over one connection as long as the server keeps it. */
async function statusesOf(port: number, targets: readonly string[]): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  let wire: Wire | undefined;
  for (const [id, target] of targets.entries()) {
    wire ??= await Wire.open(port);
    const line = `POST ${target} HTTP/1.1`;
    await wire.write(raw(['Authorization: Bearer good', json], `{"id":${id},"name":"Rosa"}`, { line }));
    const { status, headers } = await wire.answer();
    statuses.set(target, status);
    if (headers.get('connection') === 'keep-alive') continue;
    wire.destroy();
    wire = undefined;
  }
  wire?.destroy();
  return statuses;
}

describe.each(named(mounts))('%s', (_, { at, basePath = '', isOperation, isRoute, swallows, start }) => {
  const sent = async (targets: readonly string[], isGuarded: boolean) => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'), { basePath });
    const { port, close } = await start(handle, isGuarded);
    onTestFinished(close);
    return statusesOf(port, targets);
  };
  const servedOf = (statuses: Map<string, number>) =>
    [...statuses].filter(([, status]) => status === 200).map(([target]) => target);

  test('serves the operation, and as a middleware nothing else', async () => {
    const isOther = (target: string) => !exact(at).includes(target) && !absolute(at).includes(target);
    const targets = isRoute ? exact(at) : [...exact(at), ...absolute(at), ...others(at)];
    const served = servedOf(await sent(targets, false));
    expect(served).toEqual(expect.arrayContaining(exact(at)));
    expect(served.filter((target) => isOther(target) && !isOperation?.test(target))).toEqual([]);
  });

  test('serves nothing that a guard of the app would deny, in any spelling', async () => {
    // A middleware serves no other anyway, but those of another tenant: see above.
    const more = isRoute || isOperation ? others(at) : [];
    const statuses = await sent([...exact(at), ...absolute(at), ...more], true);
    for (const target of exact(at)) expect([target, statuses.get(target)]).toEqual([target, 403]);
    expect(servedOf(statuses).filter((target) => !swallows?.test(target))).toEqual([]);
  });
});
