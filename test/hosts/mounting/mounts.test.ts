// A mount at the operation's own path works, without taking a path that is the app's: every request but `POST <mount>/plants`
// falls through to the app, its body unread. A request that is lost all the same gets a warning.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import Router from '@koa/router';
import express from 'express';
import asyncHandler from 'express-async-handler';
import Fastify from 'fastify';
import Koa from 'koa';
import mount from 'koa-mount';
import { acceptTokens, createPlantStore } from 'plant-store';
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
  onFastify,
  onKoa,
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
const fastify = (prefix: string) => onFastify(() => Fastify(), prefix);

const wrapKoa =
  (middleware: Koa.Middleware): Koa.Middleware =>
  (context, next) =>
    middleware(context, next);

const routed = (router: Router) => router.routes() as unknown as Koa.Middleware;
const koaRoute = (path: string | string[], handler: Koa.Middleware) =>
  routed(new Router().post(path, handler as never));
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

const placesIn = (make: typeof express): [name: string, place: Place, basePath?: string][] => [
  ['use at the path', (app, plants) => app.use('/api/plants', plants)],
  ['use at the path, and basePath', (app, plants) => app.use('/api/plants', plants), '/api'],
  ['use at the parent, and basePath', (app, plants) => app.use('/api', plants), '/api'],
  ['a route', (app, plants) => app.post('/api/plants', plants)],
  ['a route, and basePath', (app, plants) => app.post('/api/plants', plants), '/api'],
  ['a route behind another handler', (app, plants) => app.post('/api/plants', skip, plants)],
  ['app.route', (app, plants) => app.route('/api/plants').all(plants)],
  ['a router at the path', (app, plants) => app.use('/api/plants', make.Router().use(plants))],
  ['a route in a router', (app, plants) => app.use('/api', make.Router().post('/plants', plants))],
  ...Object.entries(wrappers).map(([wrapper, wrap]): [string, Place] => [
    `a route whose handler is wrapped by ${wrapper}`,
    (app, plants) => app.post('/api/plants', wrap(plants)),
  ]),
  ['a route with a list of paths', (app, plants) => app.post(['/v2/trees', '/api/plants'], plants)],
  ['a route with a regular expression', (app, plants) => app.post(/^\/api\/plants$/, plants)],
  ['a route with a parameter', (app, plants) => app.post('/:tenant/plants', plants)],
];

const koaPlaces: [name: string, place: KoaPlace, basePath?: string][] = [
  ['koa-mount at the path', (plants) => mount('/api/plants', plants)],
  ['koa-mount at the path, and basePath', (plants) => mount('/api/plants', plants), '/api'],
  ['koa-mount at the parent, and basePath', (plants) => mount('/api', plants), '/api'],
  ['koa-mount twice', (plants) => mount('/api', mount('/plants', plants))],
  ['@koa/router', (plants) => koaRoute('/api/plants', plants)],
  ['@koa/router, and basePath', (plants) => koaRoute('/api/plants', plants), '/api'],
  ['@koa/router, a wrapped handler', (plants) => koaRoute('/api/plants', wrapKoa(plants))],
  ['@koa/router, a list of paths', (plants) => koaRoute(['/v2/trees', '/api/plants'], plants)],
  [
    '@koa/router with a prefix',
    (plants) => routed(new Router({ prefix: '/api' }).post('/plants', plants as never)),
  ],
];

const places: [name: string, start: Start, basePath?: string][] = [
  ...Object.entries(expresses).flatMap(([name, make]) =>
    placesIn(make).map(([where, place, basePath = '']): [string, Start, string] => [
      `${name}, ${where}`,
      onExpress(make, place),
      basePath,
    ]),
  ),
  ...koaPlaces.map(([where, place, basePath = '']): [string, Start, string] => [
    where,
    onKoa3(place),
    basePath,
  ]),
  ['Fastify, the prefix is the path', fastify('/api/plants')],
  ['Fastify, the prefix is the path, and basePath', fastify('/api/plants'), '/api'],
  ['Fastify, the prefix is the parent, and basePath', fastify('/api'), '/api'],
];

/** None of them is the operation `/api/plants`. */
const otherPaths = [
  ...['/plants', '/api', '/api/', '/api/plants/', '/api/plants/x', '/API/PLANTS', '/api/PLANTS'],
  ...['/api/plants/x/plants', '/api/trees/plants', '/api/%70lants', '/x/api/plants'],
  ...['/api/x/../plants', '/api/./plants', '/plants/../api/plants', '/api/plants\\'],
  ...['/api/plants%2f', '/api%2fplants', '/api/plants%00', '/api/plants%3F'],
];

/** The spellings of a path that a host's router takes for it: there, what the router has matched is plant-store's. */
const routedPaths: readonly [mount: RegExp, paths: readonly string[]][] = [
  [/use|a router at|a regular|koa-mount/, []],
  [/Express|@koa\/router/, ['/api/plants/', '/API/PLANTS', '/api/PLANTS']],
  [/Fastify/, ['/api/%70lants']],
];

test.each(places)(
  "mounted by %s, POST /api/plants creates, and any other path and method is the app's",
  async (name, start, basePath) => {
    const send = await opened(start, basePath);
    expect(await send('/api/plants')).toBe('created');
    expect(await send('/api/plants?x=/plants')).toBe('created');
    const [, routed] = routedPaths.find(([mount]) => mount.test(name))!;
    for (const path of routed) expect([path, await send(path)]).toEqual([path, 'created']);
    for (const path of otherPaths.filter((path) => !routed.includes(path)))
      expect([path, await send(path)]).toEqual([path, expect.toBeOneOf([400, 404])]);
    expect(await send('/api/plants', 'GET')).toBe(404);
  },
);

test.each(Object.entries(expresses))(
  '%s creates wherever its router finds a route, in another letter case or without the slash at its end',
  async (_name, make) => {
    const send = await opened(
      onExpress(make, (app, plants) => app.post('/API/plants', plants).post('/v2/plants/', plants)),
    );
    for (const path of ['/api/plants', '/v2/plants', '/v2/plants/']) expect(await send(path)).toBe('created');
  },
);

test.each<[string, Start]>([
  ['koa-mount', onKoa3((plants) => mount('/api/plants/', plants))],
  ['Fastify', fastify('/api/plants/')],
])('%s at a path that ends in a slash creates there', async (_name, start) => {
  const send = await opened(start);
  expect(await send('/api/plants/')).toBe('created');
  for (const path of ['/api/trees/', '/api/plants/x/']) expect(await send(path)).toBe(404);
});

describe('hazard: plant-store does not respond to a path that the app has not passed to it', () => {
  const own: Around = { own: () => ({ status: 201, body: 'of the app' }) };
  const rewriting =
    (url: string): express.RequestHandler =>
    (request, _response, next) => {
      request.url = url;
      next();
    };

  const ours = { '/trees/plants': 201, '/plants': 'created' } as const;
  const listed = { '/api/plants': 'created', '/trees/plants': 201 } as const;
  const wrap = wrappers['a function with a next of its own']!;
  test.each<[string, Place, paths: Record<string, 201 | 'created'>, basePath?: string]>([
    ['was rewritten', (app, plants) => app.use(rewriting('/x/plants'), plants), { '/plants': 201 }],
    ['was shortened', (app, plants) => app.use(rewriting('/plants'), plants), { '/api/plants': 201 }, '/api'],
    [
      'was rewritten below the mount',
      (app, plants) => app.use('/api', rewriting('/trees/plants'), plants),
      { '/api/plants': 201 },
      '/api',
    ],
    [
      'was rewritten in the route',
      (app, plants) => app.post('/api/plants', rewriting('/trees'), plants),
      { '/api/plants': 201 },
    ],
    ['is a route, which calls `next`', (app, plants) => app.post('/trees/plants', skip).use(plants), ours],
    [
      'is a route, and plant-store is wrapped',
      (app, plants) => app.post('/trees/plants', skip).use(wrappers['an arrow function']!(plants)),
      ours,
    ],
    [
      'is a route after plant-store, and every `next` is wrapped',
      (app, plants) => app.use(wrap(plants)).post('/trees/plants', wrap(skip)),
      ours,
    ],
    [
      'only another expression of a list has found',
      (app, plants) => app.post([/^\/api\/plants$/, /^\/trees/], plants),
      listed,
    ],
    [
      'is another path of a list',
      (app, plants) => app.post(['/api/plants', '/api/trees/:any'], plants),
      { '/api/plants': 'created', '/api/trees/plants': 201 },
    ],
    [
      'may be another path of a list that ends in /plants',
      (app, plants) => app.post(['/api/plants', '/trees/:kind/plants'], plants),
      listed,
    ],
  ])('on Express, if it %s', async (_when, place, paths, basePath) => {
    for (const make of Object.values(expresses)) {
      const send = await opened(onExpress(make, place), basePath, own);
      for (const [path, expected] of Object.entries(paths))
        expect([path, await send(path)]).toEqual([path, expected]);
    }
  });

  const trees = koaRoute('/trees/plants', passOn);
  test.each<[string, KoaPlace]>([
    [
      'a route behind plant-store that calls `next`, where handlers are wrapped',
      (plants) => [wrapKoa(plants), trees],
    ],
    ['a route that has passed it on to plant-store', (plants) => [trees, plants]],
    [
      "a route of plant-store's own router",
      (plants) => routed(new Router().use(plants as never).post('/trees/plants', passOn as never)),
    ],
    [
      'below a koa-mount that another middleware has left',
      (plants) => [mount('/trees/plants', passOn), plants],
    ],
  ])('on Koa, if it is %s', async (_what, place) => {
    const send = await opened(onKoa3(place), '', own);
    expect(await send('/trees/plants')).toBe(201);
  });

  test('of another host, whose words mean something else', async () => {
    const foreign = {
      route: { path: '/trees/plants' },
      baseUrl: { of: 'another kind' },
      matched: '/trees/plants',
    };
    const before: Before = (request, _response, next) => {
      Object.assign(request, foreign);
      next();
    };
    const send = await opened(hostNamed('node:http with a next').start, '', { ...own, before });
    expect(await send('/trees/plants')).toBe(201);
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
    name: 'Koa 3, at every path of a @koa/router',
    basePath: '/api',
    start: onKoa3((plants) => routed(new Router().all('/api/{*rest}', plants as never))),
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

describe('a POST that ends in /plants and falls through', () => {
  const atRoot = hostNamed('Express 5, at the root').start;
  test.each<[string, Start, path: string, advice: string, basePath?: string]>([
    ['Express', atRoot, '/api/plants', "set basePath to '/api'"],
    ['Express, the wrong basePath', atRoot, '/plants', "set basePath to ''", '/api'],
    [
      'Express, at the path, the wrong basePath',
      onExpress(express, (app, plants) => app.use('/plants', plants)),
      '/plants',
      "mount it at '/'",
      '/api',
    ],
    ['Koa', onKoa3((plants) => plants), '/api/plants', "set basePath to '/api'"],
    [
      'koa-mount',
      onKoa3((plants) => mount('/api/plants', plants)),
      '/api/plants',
      "mount it at '/api'",
      '/v2',
    ],
    ['node:http', hostNamed('node:http with a next').start, '/api/plants', "set basePath to '/api'"],
  ])('causes one warning on %s, which says what to write', async (_name, start, path, advice, basePath) => {
    const send = await opened(start, basePath);
    for (let i = 0; i < 3; i++) expect(await send(path)).toBe(404);
    expect(warnings.mock.calls).toEqual([
      [
        `POST ${path} was not handled by plant-store and got a 404. If it should be, ${advice}.`,
        { code: 'PLANT_STORE_MOUNT' },
      ],
    ]);
  });

  test('a path that no option can name, or a long one, gives no warning: clients can send any', async () => {
    const send = await opened(atRoot);
    const long = ['x'.repeat(93), 'x'.repeat(15_000)].map((name) => `/${name}/plants`);
    for (const path of ['//plants', '/./plants', '/a/../plants', '/a%2fb/plants', '/a?/plants', ...long])
      expect(await send(path), path).toBe(404);
    expect(warnings).not.toHaveBeenCalled();
    await send('/api/plants');
    expect(warnings).toHaveBeenCalledOnce();
  });

  test("the app's own response gives no warning, nor does another path or method", async () => {
    const own: Around['own'] = (_request, url) => ({ status: url === '/api/plants' ? 200 : 404, body: '' });
    const send = await opened(atRoot, '', { own });
    for (const path of ['/api/plants', '/plants', '/api', '/nothing']) await send(path);
    await send('/x/plants', 'GET');
    expect(warnings).not.toHaveBeenCalled();
  });
});
