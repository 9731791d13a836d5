// Where a middleware and a route are mounted: a route is served wherever its router finds it, a path that the app has rewritten is
// its own, and whatever is not plant-store's falls through to the app, its body unread. A wrong mount says what to write.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import Router from '@koa/router';
import express from 'express';
import asyncHandler from 'express-async-handler';
import Fastify from 'fastify';
import Koa from 'koa';
import mount from 'koa-mount';
import { acceptTokens, createPlantStore, guard } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { memoryStorage } from 'plant-store/memory';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { clientOf } from '../../support/client.js';
import { raw, Wire } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import {
  type Around,
  type Before,
  expresses,
  type Host,
  hostNamed,
  onExpress,
  onKoa,
  routesOf,
  type Start,
} from '../hosts.js';
import { json, token } from '../node/server.js';

const warnings = vi.fn();
beforeEach(() => void vi.spyOn(process, 'emitWarning').mockImplementation((...all) => warnings(...all)));
afterEach(() => {
  vi.restoreAllMocks();
  warnings.mockClear();
});

async function started(start: Start, basePath = '', around: Around = {}) {
  const handle = createPlantStore(memoryStorage(), acceptTokens('good'), { basePath });
  const running = await start(handle, { own: () => ({ status: 404, body: 'the app' }), ...around });
  onTestFinished(running.close);
  return running;
}

/** Sends requests for these paths, whatever the mount. */
async function opened(start: Start, basePath?: string, around?: Around) {
  const { url } = await started(start, basePath, around);
  const { send, close } = clientOf(new URL(url).origin);
  onTestFinished(close);
  let id = 0;
  const headers = { authorization: 'Bearer good', 'content-type': 'application/json' };
  return async (path: string, method = 'POST') => {
    const body = new TextEncoder().encode(`{"id":${++id},"name":"Rosa canina"}`);
    const request = method === 'POST' ? { headers, body } : { headers: {}, body: undefined };
    const { status, text } = await send({ method, path, ...request });
    return status === 200 && text === '{"name":"Rosa canina"}' ? 'created' : status;
  };
}

const skip: express.RequestHandler = (_request, _response, next) => next();
type Place = Parameters<typeof onExpress>[1];
type KoaPlace = Parameters<typeof onKoa>[1];
const onKoa3 = (place: KoaPlace) => onKoa(Koa, place);

const wrapKoa =
  (middleware: Koa.Middleware): Koa.Middleware =>
  (context, next) =>
    middleware(context, next);

const koaRoute = (path: string | string[], handler: Koa.Middleware) =>
  routesOf(new Router().post(path, handler as never));
const passOn: Koa.Middleware = (_context, next) => next();

const wrappers: Record<string, (handler: express.RequestHandler) => express.RequestHandler> = {
  'an arrow function': (handler) => (request, response, next) => handler(request, response, next),
  'express-async-handler': (handler) => asyncHandler(handler as Parameters<typeof asyncHandler>[0]),
  'a function that waits': (handler) => async (request, response, next) => {
    await null;
    await handler(request, response, next);
  },
  'a function with a next of its own': (handler) => (request, response, next) =>
    handler(request, response, (error?: unknown) => next(error)),
};

const ours = { '/trees/plants': 201, '/plants': 'created' } as const;
const wrap = wrappers['a function with a next of its own']!;

/** Patterns that end in `/plants` or not, and the paths that the host's own router finds by them. */
const patterns: Record<'Express 5' | 'Express 4', Record<string, readonly string[]>> = {
  'Express 5': {
    '/api/plants': ['/api/plants', '/api/plants?x=/plants', '/API/Plants', '/api/plants/'],
    '/api/plants{/}': ['/api/plants', '/api/plants/'],
    '/api/plants{.:format}': ['/api/plants', '/api/plants.json'],
    '/v2/create': ['/v2/create'],
  },
  'Express 4': {
    '/api/plants': ['/api/plants', '/api/plants?x=/plants', '/API/Plants', '/api/plants/'],
    '/api/plants/?': ['/api/plants', '/api/plants/'],
    '/:lang-:region/plants': ['/en-gb/plants'],
  },
};

describe.each(Object.entries(expresses))('%s serves a route', (version, make) => {
  const rows = Object.entries(patterns[version as keyof typeof patterns]);
  test.each(rows)('%s, wherever its router finds it', async (pattern, paths) => {
    const send = await opened(onExpress(make, (app, _, route) => app.post(pattern, route)));
    for (const path of paths) expect([path, await send(path)]).toEqual([path, 'created']);
    expect([await send('/api'), await send('/trees/plants'), await send(paths[0]!, 'GET')]).toEqual([
      404, 404, 404,
    ]);
    expect(warnings).not.toHaveBeenCalled();
  });

  test.each<[string, Place]>([
    ['a list of patterns', (app, _, route) => app.post(['/v2/trees', '/api/plants'], route)],
    ['an expression', (app, _, route) => app.post(/^\/api\/plants$/, route)],
    ['a route behind another handler', (app, _, route) => app.post('/api/plants', skip, route)],
    ['a route of every method', (app, _, route) => app.route('/api/plants').all(route)],
    ['a route of a router', (app, _, route) => app.use('/api', make.Router().post('/plants', route))],
    ...Object.entries(wrappers).map(([wrapper, wrap]): [string, Place] => [
      `a route whose handler is wrapped by ${wrapper}`,
      (app, _, route) => app.post('/api/plants', wrap(route)),
    ]),
  ])('that is %s, and passes other methods to the app', async (_how, place) => {
    const send = await opened(onExpress(make, place));
    expect([await send('/api/plants'), await send('/api/plants', 'GET')]).toEqual(['created', 404]);
    expect(warnings).not.toHaveBeenCalled();
  });

  test('at a wildcard of a router, with doubled slashes', async () => {
    const files = make.Router();
    const send = await opened(
      onExpress(make, (app, _, route) => app.use('/api', files.post(/^\/files\/.*/, route))),
    );
    expect(await send('/api/files/a//b')).toBe('created');
  });

  test('with no more than a function call for a path of 2 kB that its own pattern could stumble over', async () => {
    const places: Place = (app, _, route) =>
      app.post(['/:lang-:region-:site/plants', '/:lang/:region/plants'], route);
    const send = await opened(onExpress(make, places));
    expect(await send(`/${'-'.repeat(2_000)}/y/plants`)).toBe('created');
  });
});

describe('@koa/router serves a route', () => {
  test.each<[string, KoaPlace, readonly string[]]>([
    ['', (_, route) => koaRoute('/api/plants', route), ['/api/plants', '/API/plants', '/api/plants/']],
    [' of a list', (_, route) => koaRoute(['/v2/trees', '/api/plants'], route), ['/api/plants', '/v2/trees']],
    [' that is wrapped', (_, route) => koaRoute('/api/plants', wrapKoa(route)), ['/api/plants']],
    [
      ' with an optional slash, strictly',
      (_, route) => routesOf(new Router({ strict: true }).post('/api/plants{/}', route as never)),
      ['/api/plants', '/api/plants/'],
    ],
    [
      ' at a wildcard below a koa-mount, with doubled slashes',
      (_, route) => mount('/api', koaRoute('/files/{*rest}', route)),
      ['/api/files/a//b'],
    ],
    [
      ' below a prefix',
      (_, route) => routesOf(new Router({ prefix: '/api' }).post('/plants', route as never)),
      ['/api/plants'],
    ],
  ])('%s', async (_how, place, paths) => {
    const send = await opened(onKoa3(place));
    for (const path of paths) expect([path, await send(path)]).toEqual([path, 'created']);
    expect([await send('/api'), await send('/plants'), await send(paths[0]!, 'GET')]).toEqual([
      404, 404, 404,
    ]);
    expect(warnings).not.toHaveBeenCalled();
  });
});

describe('hazard: plant-store does not respond to a path that the app has not passed to it', () => {
  const own: Around = { own: () => ({ status: 201, body: 'of the app' }) };
  const rewriting =
    (url: string): express.RequestHandler =>
    (request, _response, next) => {
      request.url = url;
      next();
    };

  test.each<[string, Place, paths: Record<string, 201 | 'created'>]>([
    [
      'was rewritten to another path',
      (app, plants) => app.use(rewriting('/x/plants'), plants),
      { '/plants': 201 },
    ],
    [
      'was rewritten to the operation',
      (app, plants) => app.use(rewriting('/plants'), plants),
      { '/x': 'created' },
    ],
    [
      'was rewritten to the operation, from a path with a doubled slash',
      (app, plants) => app.use(rewriting('/plants'), plants),
      { '//plants': 201, '/x//y': 201, '/x\\y': 201 },
    ],
    [
      'was rewritten below the mount',
      (app, plants) => app.use('/api', rewriting('/trees/plants'), plants),
      { '/api/plants': 201 },
    ],
    ['is the mount of another tenant', (app, plants) => app.use('/:tenant', plants), { '/plants': 201 }],
    [
      'may be no tenant at all (Express 4)',
      (app, plants) => app.use(/^\/?([^/]*)/, plants),
      { '//plants': 201 },
    ],
    ['is a route, which calls `next`', (app, plants) => app.post('/trees/plants', skip).use(plants), ours],
    [
      'is a route after plant-store, and every `next` is wrapped',
      (app, plants) => app.use(wrap(plants)).post('/trees/plants', wrap(skip)),
      ours,
    ],
  ])('on Express, if it %s', async (_when, place, paths) => {
    for (const make of Object.values(expresses)) {
      const send = await opened(onExpress(make, place), '', own);
      for (const [path, expected] of Object.entries(paths))
        expect([path, await send(path)]).toEqual([path, expected]);
    }
    expect(warnings).not.toHaveBeenCalled();
  });

  const trees = koaRoute('/trees/plants', passOn);
  const toOperation: Koa.Middleware = (context, next) => {
    context.url = '/plants';
    return next();
  };
  test.each<[string, KoaPlace, paths: Record<string, 201 | 'created'>]>([
    ['a route that has passed it on to plant-store', (plants) => [trees, plants], ours],
    [
      "a route of plant-store's own router",
      (plants) => routesOf(new Router().use(plants as never).post('/trees/plants', passOn as never)),
      { '/trees/plants': 201 },
    ],
    ['below a koa-mount that was left', (plants) => [mount('/trees/plants', passOn), plants], ours],
    ['rewritten to the operation', (plants) => [toOperation, plants], { '/x': 'created', '//x': 201 }],
    [
      'of a mount with a slash, which swallows one',
      (plants) => mount('/trees/', plants),
      { '/trees//plants': 201 },
    ],
  ])('on Koa, if it is %s', async (_what, place, paths) => {
    const send = await opened(onKoa3(place), '', own);
    for (const [path, expected] of Object.entries(paths))
      expect([path, await send(path)]).toEqual([path, expected]);
    expect(warnings).not.toHaveBeenCalled();
  });

  test('of another host, whose words mean something else', async () => {
    const foreign = {
      route: { path: '/trees/plants', stack: 'another kind' },
      baseUrl: { of: 'another kind' },
      matched: '/trees/plants',
      params: 'another kind',
    };
    const before: Before = (request, _response, next) => {
      Object.assign(request, foreign);
      next();
    };
    const send = await opened(hostNamed('node:http with a next').start, '', { ...own, before });
    expect([await send('/trees/plants'), await send('/plants')]).toEqual([201, 'created']);
  });
});

const guests: readonly Pick<Host, 'name' | 'basePath' | 'start'>[] = [
  { ...hostNamed('node:http with a next'), basePath: '/api' },
  hostNamed('Express 5, under a path'),
  hostNamed('Express 4, under a path'),
  { ...hostNamed('Koa 3, plain'), basePath: '/api' },
  { ...hostNamed('Koa 2, plain'), basePath: '/api' },
  hostNamed('Koa 3, under koa-mount'),
  {
    name: 'Koa 3, in a @koa/router',
    basePath: '/api',
    start: onKoa3((plants) => routesOf(new Router().use(plants as never).all('/{*rest}', passOn as never))),
  },
  hostNamed('Fastify 5, under a prefix'),
];

describe.each(named(guests))('as a guest of %s', (name, { start, basePath }) => {
  // The contract table has the app's own paths and methods, which no mount takes.
  test("the app's error handler gets what the app throws", async () => {
    const told: unknown[] = [];
    const error = new Error('of the app');
    const own = () => {
      throw error;
    };
    const send = await opened(start, basePath, { own, onError: (error) => void told.push(error) });
    expect([await send('/api/broken'), told]).toEqual([500, [error]]);
  });

  // The body came with its headers, and is read before Node has parsed its end.
  test.each(['end', 'close'])(
    'a middleware hears the %s of a request that plant-store has responded to',
    async (event) => {
      const heard: Promise<unknown>[] = [];
      const before: Before = (request, _response, next) => {
        heard.push(once(request, event));
        next();
      };
      const send = await opened(start, basePath, { before });
      for (let i = 0; i < 3; i++) expect(await send('/api/plants')).toBe('created');
      expect(await Promise.all(heard)).toHaveLength(3);
    },
  );

  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const onData: Before = (request, _response, next) => {
    request.on('data', () => {});
    next();
  };
  test.each<[string, Around['before'], (request: IncomingMessage) => Promise<string>]>([
    ['reads it', undefined, text],
    ['reads it behind a data listener', onData, text],
    [
      'listens to data behind a data listener',
      onData,
      async (request) => {
        let body = '';
        request.on('data', (part) => (body += part));
        await once(request, 'end');
        return body;
      },
    ],
    [
      'reads it some turns later',
      undefined,
      async (request) => {
        for (let i = 0; i < 3; i++) await turn();
        return text(request);
      },
    ],
  ])(
    'hazard: a body that arrives after its request fell through is complete for an app that %s',
    async (_how, before, read) => {
      const { port, server } = await started(start, basePath, {
        ...(before && { before }),
        own: async (request) => ({ status: 200, body: `the app got ${await read(request)}` }),
      });
      // The second is a path that a middleware might take for ours, the last one below a mount that begins alike.
      for (const path of [
        '/api/others',
        name.includes('Fastify') ? '/api/plants/' : '/api/%70lants',
        '/apix/plants',
      ]) {
        const wire = await Wire.open(port);
        const seen = once(server, 'request').then(turn).then(turn);
        await wire.write(
          raw([token, json, 'Content-Length: 10'], 'early', { line: `POST ${path} HTTP/1.1` }),
        );
        await seen;
        await wire.write(' late');
        expect((await wire.answer()).text).toBe('the app got early late');
        wire.destroy();
      }
    },
  );
});

describe('a wrong mount', () => {
  const code = { code: 'PLANT_STORE_MOUNT' };
  const ofRoute = (adapter: string, host: string) =>
    `plant-store: ${adapter}(handle) is the handler of a route. Write toRoute(handle) in its place: import { toRoute } from 'plant-store/${host}'.`;
  const ofMiddleware = (app: string, adapter: string) =>
    `plant-store: toRoute(handle) is middleware. As a route, write ${app}.post('/api/plants', toRoute(handle)); as middleware, ${adapter}(handle) in place of toRoute(handle).`;
  /** A router with a route of the app's own: without one it calls no middleware. */
  const anyRoute = (place: (router: Router) => Router) =>
    routesOf(place(new Router()).all('/{*rest}', passOn as never));
  const parentOnExpress =
    "plant-store: toExpress(handle) adds /plants to its mount. If that is app.use('/api/plants', toExpress(handle)), write app.use('/api', toExpress(handle)), which serves POST /api/plants.";
  const parentOnKoa = (at: string, parent: string) =>
    `plant-store: toKoa(handle) is mounted at '${at}', and adds /plants to it. For POST ${parent}/plants, write mount('${parent || '/'}', toKoa(handle)).`;

  test.each<[string, Start, message: string]>([
    ...Object.entries(expresses).flatMap(([name, make]): [string, Start, string][] => [
      [
        `${name}, a route`,
        onExpress(make, (app, plants) => app.post('/api/plants', plants)),
        ofRoute('toExpress', 'express'),
      ],
      [
        `${name}, a route of a router, behind another handler`,
        onExpress(make, (app, plants) => app.use(make.Router().all('/api/plants', skip, plants))),
        ofRoute('toExpress', 'express'),
      ],
      [
        `${name}, at the path`,
        onExpress(make, (app, plants) => app.use('/api/plants', plants)),
        parentOnExpress,
      ],
      [
        `${name}, in a router at the path`,
        onExpress(make, (app, plants) => app.use('/api/plants', make.Router().use(plants))),
        parentOnExpress,
      ],
    ]),
    ...Object.entries(expresses).flatMap(([name, make]): [string, Start, string][] => [
      [
        `${name}, toRoute as middleware`,
        onExpress(make, (app, _, route) => app.use('/api', route)),
        ofMiddleware('app', 'toExpress'),
      ],
      [
        `${name}, toRoute as middleware of a router`,
        onExpress(make, (app, _, route) => app.use('/api', make.Router().use(route))),
        ofMiddleware('app', 'toExpress'),
      ],
    ]),
    ['Koa, toRoute as middleware', onKoa3((_, route) => route), ofMiddleware('router', 'toKoa')],
    [
      'Koa, toRoute below a koa-mount',
      onKoa3((_, route) => mount('/api', route)),
      ofMiddleware('router', 'toKoa'),
    ],
    [
      'Koa, toRoute as middleware of a router',
      onKoa3((_, route) => anyRoute((router) => router.use('/api', route as never))),
      ofMiddleware('router', 'toKoa'),
    ],
    [
      'Koa, as middleware of a router at a path, which it strips not',
      onKoa3((plants) => anyRoute((router) => router.use('/api', plants as never))),
      "plant-store: toKoa(handle) is in router.use('/api', …), which strips no path. For POST /api/plants, write router.post('/api/plants', toRoute(handle)), or app.use(mount('/api', toKoa(handle))).",
    ],
    ['Koa, a route', onKoa3((plants) => koaRoute('/api/plants', plants)), ofRoute('toKoa', 'koa')],
    [
      'Koa, at the path',
      onKoa3((plants) => mount('/api/plants', plants)),
      parentOnKoa('/api/plants', '/api'),
    ],
    ['Koa, twice', onKoa3((plants) => mount('/api', mount('/plants', plants))), parentOnKoa('/plants', '')],
    ['Koa, with a slash', onKoa3((plants) => mount('/api/', plants)), parentOnKoa('/api/', '/api')],
  ])('on %s says at the first request what to write, once', async (_where, start, message) => {
    const send = await opened(start);
    for (let i = 0; i < 3; i++) expect(await send('/api/plants')).toBe(404);
    expect(warnings.mock.calls).toEqual([[message, code]]);
  });

  test('of a guard is served all the same, and says what to write', async () => {
    const ok = guard(acceptTokens('good'), () => ({ status: 204, headers: {}, body: '' }));
    const app = express().get('/api/plants/:id', toExpress(ok));
    const { url, close } = await onExpress(express, (outer) => outer.use(app))(ok);
    onTestFinished(close);
    const response = await fetch(`${url}/api/plants/1`, { headers: { authorization: 'Bearer good' } });
    expect([response.status, warnings.mock.calls]).toEqual([204, [[ofRoute('toExpress', 'express'), code]]]);
  });

  test('on Fastify says so, too, if the prefix ends in a slash', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
    await app.register(toFastify(handle), { prefix: '/api/plants/' });
    expect(warnings.mock.calls.map(([message]) => message)).toEqual([
      expect.stringContaining("write app.register(toFastify(handle), { prefix: '/api' })."),
    ]);
  });

  const ofRouteOnFastify =
    "plant-store: toFastify(handle) is the handler of a route. For POST /api/plants, write app.register(toFastify(handle), { prefix: '/api' }).";
  test('on Fastify says so when it is registered, and as the handler of a route fails', async () => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
    const app = Fastify();
    onTestFinished(() => app.close());
    await app.register(toFastify(handle), { prefix: '/api/plants' });
    app.post('/api/trees', toFastify(handle) as never);
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/api/trees', body: {} });
    expect([statusCode, JSON.parse(body).message]).toEqual([
      500,
      ofRouteOnFastify.slice('plant-store: '.length),
    ]);
    expect(warnings.mock.calls).toEqual([
      [
        "plant-store: toFastify(handle) is registered with the prefix '/api/plants', and adds /plants to it. For POST /api/plants, write app.register(toFastify(handle), { prefix: '/api' }).",
        code,
      ],
      [ofRouteOnFastify, code],
    ]);
  });

  test.each<[string, Start]>([
    ...Object.entries(expresses).map(([name, make]): [string, Start] => [
      `${name}, toRoute`,
      onExpress(make, (app, _, route) => app.use('/api/plants', route)),
    ]),
    ['Koa, toRoute below a koa-mount', onKoa3((_, route) => mount('/api/plants', route))],
  ])(
    'is none at the whole path: on %s creates plants there, and passes on what is below',
    async (_where, start) => {
      const send = await opened(start);
      expect([await send('/api/plants'), await send('/api/plants')]).toEqual(['created', 'created']);
      expect(warnings).not.toHaveBeenCalled();
      expect(await send('/api/plants/1')).toBe(404);
    },
  );

  test('is none of the usual prefix of Fastify', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
    await app.register(toFastify(handle), { prefix: '/api' });
    await app.ready();
    expect(warnings).not.toHaveBeenCalled();
  });

  test('is none of what clients send, who cannot use up the warning of the app', async () => {
    const places: Place[] = [
      (app, plants) => app.use(plants),
      (app, plants) => app.use('/api', plants),
      (app, plants) => app.use('/:tenant', plants),
      (app, plants) => app.use('/:tenant', express.Router({ mergeParams: true }).use(plants)),
      (app, plants) => app.use('/{*path}', plants),
    ];
    for (const place of places) {
      const send = await opened(onExpress(express, place));
      for (const path of [
        '/plants',
        '/API/plants',
        '/api/plants/plants',
        '/x/plants',
        '/plants/',
        '//plants',
      ])
        for (const method of ['POST', 'GET']) await send(path, method);
    }
    for (const place of [(plants) => plants, (plants) => mount('/api', plants)] satisfies KoaPlace[]) {
      const send = await opened(onKoa3(place));
      for (const path of ['/', '/plants', '/api', '/api/', '/x/plants', '//plants']) await send(path);
    }
    expect(warnings).not.toHaveBeenCalled();
  });
});
