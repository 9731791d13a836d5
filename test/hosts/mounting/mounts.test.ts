// A mount at the operation's own path works, without taking a path that is the app's. A request that is lost all the same gets a warning.
import { createServer } from 'node:http';
import type { Server } from 'node:net';
import Router from '@koa/router';
import { type MiddlewareConsumer, Module, RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import asyncHandler from 'express-async-handler';
import express4 from 'express4';
import Fastify from 'fastify';
import Koa from 'koa';
import mount from 'koa-mount';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { clientOf } from '../../support/client.js';
import { listen } from '../../support/sockets.js';

type Serve = (handle: PlantHandler) => Server | Promise<Server>;

async function opened(serve: Serve, basePath = '') {
  const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath });
  const { url, close } = await listen(await serve(handle));
  onTestFinished(close);
  const client = clientOf(url);
  onTestFinished(() => client.close());
  let id = 0;
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  return async (path: string, method = 'POST') => {
    const body = new TextEncoder().encode(`{"id":${++id},"name":"Rosa canina"}`);
    const request = method === 'POST' ? { headers, body } : { headers: {}, body: undefined };
    const { status, text } = await client.send({ method, path, ...request });
    return status === 200 && text === '{"name":"Rosa canina"}' ? 'created' : status;
  };
}

const expresses = { 'Express 5': express, 'Express 4': express4 as unknown as typeof express };

/** The app's own response to requests that fall through. */
const around = (app: express.Express) =>
  createServer(app.use((_request, response) => void response.status(404).send('the app')));

const koa = (...all: Koa.Middleware[]) => {
  const app = new Koa();
  for (const middleware of all) app.use(middleware);
  return createServer(app.callback());
};
const routed = (router: Router) => router.routes() as unknown as Koa.Middleware;

async function nest(handle: PlantHandler): Promise<Server> {
  class Plants {
    configure(consumer: MiddlewareConsumer) {
      consumer.apply(toExpress(handle)).forRoutes({ path: 'api/plants', method: RequestMethod.POST });
    }
  }
  Module({})(Plants);
  const app = await NestFactory.create(Plants, { logger: false });
  await app.init();
  return app.getHttpServer();
}

async function fastify(handle: PlantHandler, prefix: string): Promise<Server> {
  const app = Fastify();
  app.register(toFastify(handle), { prefix });
  await app.ready();
  return app.server;
}

const wrappers: Record<string, (handler: express.RequestHandler) => express.RequestHandler> = {
  'an arrow function': (handler) => (request, response, next) => handler(request, response, next),
  'express-async-handler': (handler) => asyncHandler(handler as Parameters<typeof asyncHandler>[0]),
  'a function that waits': (handler) => async (request, response, next) => {
    await null;
    await handler(request, response, next);
  },
};

const wrapKoa =
  (middleware: Koa.Middleware): Koa.Middleware =>
  (context, next) =>
    middleware(context, next);

const places: [name: string, serve: Serve, basePath?: string][] = [
  ...Object.entries(expresses).flatMap(([name, make]): [string, Serve, string?][] => [
    [`${name}, use at the path`, (handle) => around(make().use('/api/plants', toExpress(handle)))],
    [
      `${name}, use at the path, and basePath`,
      (handle) => around(make().use('/api/plants', toExpress(handle))),
      '/api',
    ],
    [
      `${name}, use at the parent, and basePath`,
      (handle) => around(make().use('/api', toExpress(handle))),
      '/api',
    ],
    [`${name}, a route`, (handle) => around(make().post('/api/plants', toExpress(handle)))],
    [
      `${name}, a route, and basePath`,
      (handle) => around(make().post('/api/plants', toExpress(handle))),
      '/api',
    ],
    [
      `${name}, a route behind another handler`,
      (handle) =>
        around(make().post('/api/plants', (_request, _response, next) => next(), toExpress(handle))),
    ],
    [
      `${name}, app.route`,
      (handle) => {
        const app = make();
        app.route('/api/plants').all(toExpress(handle));
        return around(app);
      },
    ],
    [
      `${name}, a router at the path`,
      (handle) => around(make().use('/api/plants', make.Router().use(toExpress(handle)))),
    ],
    [
      `${name}, a route in a router`,
      (handle) => around(make().use('/api', make.Router().post('/plants', toExpress(handle)))),
    ],
    ...Object.entries(wrappers).map(([wrapper, wrap]): [string, Serve] => [
      `${name}, a route whose handler is wrapped by ${wrapper}`,
      (handle) => around(make().post('/api/plants', wrap(toExpress(handle)))),
    ]),
    [
      `${name}, a route with a list of paths`,
      (handle) => around(make().post(['/v2/trees', '/api/plants'], toExpress(handle))),
    ],
    [
      `${name}, a route with a regular expression`,
      (handle) => around(make().post(/^\/api\/plants$/, toExpress(handle))),
    ],
    [
      `${name}, a route with a parameter`,
      (handle) => around(make().post('/:tenant/plants', toExpress(handle))),
    ],
  ]),
  ['forRoutes of Nest', nest],
  ['forRoutes of Nest, and basePath', nest, '/api'],
  ['koa-mount at the path', (handle) => koa(mount('/api/plants', toKoa(handle)))],
  ['koa-mount at the path, and basePath', (handle) => koa(mount('/api/plants', toKoa(handle))), '/api'],
  ['koa-mount at the parent, and basePath', (handle) => koa(mount('/api', toKoa(handle))), '/api'],
  ['koa-mount twice', (handle) => koa(mount('/api', mount('/plants', toKoa(handle))))],
  ['@koa/router', (handle) => koa(routed(new Router().post('/api/plants', toKoa(handle))))],
  [
    '@koa/router with a prefix',
    (handle) => koa(routed(new Router({ prefix: '/api' }).post('/plants', toKoa(handle)))),
  ],
  [
    '@koa/router, a wrapped handler',
    (handle) => koa(routed(new Router().post('/api/plants', wrapKoa(toKoa(handle)) as never))),
  ],
  [
    '@koa/router, a list of paths',
    (handle) => koa(routed(new Router().post(['/v2/trees', '/api/plants'], toKoa(handle)))),
  ],
  [
    '@koa/router, and basePath',
    (handle) => koa(routed(new Router().post('/api/plants', toKoa(handle)))),
    '/api',
  ],
  ['Fastify, the prefix is the path', (handle) => fastify(handle, '/api/plants')],
  ['Fastify, the prefix is the path, and basePath', (handle) => fastify(handle, '/api/plants'), '/api'],
  ['Fastify, the prefix is the parent, and basePath', (handle) => fastify(handle, '/api'), '/api'],
];

describe.each(places)('mounted by %s', (_name, serve, basePath) => {
  test('POST /api/plants creates', async () => {
    const send = await opened(serve, basePath);
    expect(await send('/api/plants')).toBe('created');
    expect(await send('/api/plants?x=/plants')).toBe('created');
  });

  test("hazard: any other path and method is the app's", async () => {
    const send = await opened(serve, basePath);
    for (const path of [
      '/plants',
      '/api',
      '/api/',
      '/api/plants/',
      '/api/plants/x',
      '/API/PLANTS',
      '/api/PLANTS',
    ]) {
      expect([path, await send(path)]).toEqual([path, 404]);
    }
    for (const path of ['/api/plants/x/plants', '/api/trees/plants', '/api/%70lants', '/x/api/plants']) {
      expect([path, await send(path)]).toEqual([path, 404]);
    }
    expect(await send('/api/plants', 'GET')).toBe(404);
  });
});

test.each(Object.entries(expresses))(
  '%s creates wherever its router finds a route, in another letter case or without the slash at its end',
  async (_name, make) => {
    const send = await opened((handle) =>
      around(make().post('/API/plants', toExpress(handle)).post('/v2/plants/', toExpress(handle))),
    );
    expect(await send('/api/plants')).toBe('created');
    expect(await send('/v2/plants')).toBe('created');
  },
);

test.each<[string, Serve]>([
  ...Object.entries(expresses).map(([name, make]): [string, Serve] => [
    `${name}, a route`,
    (handle) => around(make().post('/api/plants/', toExpress(handle))),
  ]),
  ['koa-mount', (handle) => koa(mount('/api/plants/', toKoa(handle)))],
  ['Fastify', (handle) => fastify(handle, '/api/plants/')],
])('%s at a path that ends in a slash creates there', async (_name, serve) => {
  const send = await opened(serve);
  expect(await send('/api/plants/')).toBe('created');
  expect(await send('/api/trees/')).toBe(404);
  expect(await send('/api/plants/x/')).toBe(404);
});

describe('hazard: plant-store does not respond to a path that the app has not passed to it', () => {
  const own: express.RequestHandler = (_request, response) => void response.status(201).send('of the app');
  const on: express.RequestHandler = (_request, _response, next) => next();

  test.each(Object.entries(expresses))('if the app has rewritten it, on %s', async (_name, make) => {
    const rewriting: express.RequestHandler = (request, _response, next) => {
      request.url = '/legacy/plants';
      next();
    };
    const send = await opened((handle) =>
      around(make().use(rewriting).use(toExpress(handle)).post('/legacy/plants', own)),
    );
    expect(await send('/plants')).toBe(201);
  });

  test.each(Object.entries(expresses))('if the app has shortened it, on %s', async (_name, make) => {
    const shortening: express.RequestHandler = (request, _response, next) => {
      request.url = '/plants';
      next();
    };
    const send = await opened(
      (handle) => around(make().use(shortening).use(toExpress(handle)).post('/plants', own)),
      '/api',
    );
    expect(await send('/api/plants')).toBe(201);
  });

  test.each(Object.entries(expresses))(
    'if the app has rewritten it below the mount, or in the route, on %s',
    async (_name, make) => {
      const rewriting =
        (url: string): express.RequestHandler =>
        (request, _response, next) => {
          request.url = url;
          next();
        };
      const below = await opened(
        (handle) => around(make().use('/api', rewriting('/trees/plants'), toExpress(handle)).use(own)),
        '/api',
      );
      expect(await below('/api/plants')).toBe(201);
      const within = await opened((handle) =>
        around(make().post('/api/plants', rewriting('/trees'), toExpress(handle)).use(own)),
      );
      expect(await within('/api/plants')).toBe(201);
    },
  );

  test.each(Object.entries(expresses))(
    "if it is one of the app's own routes, before and after, on %s",
    async (_name, make) => {
      const send = await opened((handle) =>
        around(make().post('/trees/plants', on).use(toExpress(handle)).post('/trees/plants', own)),
      );
      expect(await send('/trees/plants')).toBe(201);
      expect(await send('/plants')).toBe('created');
    },
  );

  test.each(Object.entries(expresses))(
    "if it is one of the app's own routes, and plant-store is wrapped, on %s",
    async (_name, make) => {
      const send = await opened((handle) =>
        around(
          make()
            .post('/trees/plants', on)
            .use(wrappers['an arrow function']!(toExpress(handle)))
            .post('/trees/plants', own),
        ),
      );
      expect(await send('/trees/plants')).toBe(201);
      expect(await send('/plants')).toBe('created');
    },
  );

  test.each(Object.entries(expresses))(
    "if it is one of the app's own routes after plant-store that calls `next`, and every `next` is wrapped, on %s",
    async (_name, make) => {
      const wrapped =
        (handler: express.RequestHandler): express.RequestHandler =>
        (request, response, next) =>
          handler(request, response, (error?: unknown) => next(error));
      const send = await opened((handle) =>
        around(
          make()
            .use(wrapped(toExpress(handle)))
            .post('/trees/plants', wrapped(on), own),
        ),
      );
      expect(await send('/trees/plants')).toBe(201);
      expect(await send('/plants')).toBe('created');
    },
  );

  test("@koa/router: one of the app's own routes behind us that calls `next`, where handlers are wrapped", async () => {
    const send = await opened((handle) =>
      koa(
        wrapKoa(toKoa(handle)),
        routed(new Router().post('/trees/plants', (_context, next) => next())),
        (context) => {
          context.status = 201;
        },
      ),
    );
    expect(await send('/trees/plants')).toBe(201);
    expect(await send('/plants')).toBe('created');
  });

  test.each(Object.entries(expresses))(
    'if only another expression of a list has found it, on %s',
    async (_name, make) => {
      const send = await opened((handle) =>
        around(
          make()
            .post([/^\/api\/plants$/, /^\/trees/], toExpress(handle))
            .use(own),
        ),
      );
      expect(await send('/api/plants')).toBe('created');
      expect(await send('/trees/plants')).toBe(201);
    },
  );

  test.each(Object.entries(expresses))('if it is another path of a list, on %s', async (_name, make) => {
    const send = await opened((handle) =>
      around(make().post(['/api/plants', '/trees/:kind/plants'], toExpress(handle)).use(own)),
    );
    expect(await send('/api/plants')).toBe('created');
    const other = await opened((handle) =>
      around(make().post(['/api/plants', '/api/trees/:any'], toExpress(handle)).use(own)),
    );
    expect(await other('/api/trees/plants')).toBe(201);
  });

  test('@koa/router: one that a route of the app has passed on to us', async () => {
    const send = await opened((handle) =>
      koa(
        routed(new Router().post('/trees/plants', (_context, next) => next())),
        toKoa(handle),
        (context) => {
          context.status = 201;
        },
      ),
    );
    expect(await send('/trees/plants')).toBe(201);
    expect(await send('/plants')).toBe('created');
  });

  test('of another host, whose words mean something else', async () => {
    const foreign = {
      route: { path: '/trees/plants' },
      baseUrl: { of: 'another kind' },
      matched: '/trees/plants',
    };
    const send = await opened((handle) => {
      const middleware = toNode(handle);
      return createServer((request, response) =>
        middleware(Object.assign(request, foreign), response, () => response.writeHead(201).end()),
      );
    });
    expect(await send('/trees/plants')).toBe(201);
  });

  test("@koa/router: a route of the router's own", async () => {
    const send = await opened((handle) => {
      const router = new Router().use(toKoa(handle)).post('/trees/plants', (context) => {
        context.status = 201;
      });
      return koa(routed(router));
    });
    expect(await send('/trees/plants')).toBe(201);
  });

  test('koa-mount: one below a mount that another middleware has left', async () => {
    const send = await opened((handle) =>
      koa(
        mount('/trees/plants', (_context, next) => next()),
        toKoa(handle),
        (context) => {
          context.status = 201;
        },
      ),
    );
    expect(await send('/trees/plants')).toBe(201);
    expect(await send('/plants')).toBe('created');
  });
});

describe('a POST that ends in /plants and falls through', () => {
  const warnings = vi.fn();
  beforeEach(() => void vi.spyOn(process, 'emitWarning').mockImplementation((...all) => warnings(...all)));
  afterEach(() => {
    vi.restoreAllMocks();
    warnings.mockClear();
  });

  test.each<[string, Serve, path: string, advice: string, basePath?: string]>([
    [
      'Express',
      (handle) => around(express().use(toExpress(handle))),
      '/api/plants',
      "set basePath to '/api'",
    ],
    [
      'Express, the wrong basePath',
      (handle) => around(express().use(toExpress(handle))),
      '/plants',
      "set basePath to ''",
      '/api',
    ],
    [
      'Express, at the path, the wrong basePath',
      (handle) => around(express().use('/plants', toExpress(handle))),
      '/plants',
      "mount it at '/'",
      '/api',
    ],
    ['Koa', (handle) => koa(toKoa(handle)), '/api/plants', "set basePath to '/api'"],
    [
      'koa-mount',
      (handle) => koa(mount('/api/plants', toKoa(handle))),
      '/api/plants',
      "mount it at '/api'",
      '/v2',
    ],
    [
      'node:http with a next',
      (handle) => {
        const middleware = toNode(handle);
        return createServer((request, response) =>
          middleware(request, response, () => response.writeHead(404).end()),
        );
      },
      '/api/plants',
      "set basePath to '/api'",
    ],
    ['Fastify', (handle) => fastify(handle, '/api'), '/api/plants', "set basePath to ''", '/v2'],
  ])('causes one warning on %s, which says what to write', async (_name, serve, path, advice, basePath) => {
    const send = await opened(serve, basePath);
    for (let i = 0; i < 3; i++) expect(await send(path)).toBe(404);
    expect(warnings.mock.calls).toEqual([
      [
        `POST ${path} was not handled by plant-store and got a 404. If it should create a plant, ${advice}.`,
        { code: 'PLANT_STORE_MOUNT' },
      ],
    ]);
  });

  test('a path that no option can name, or a long one, gives no warning: clients can send any', async () => {
    const send = await opened((handle) => around(express().use(toExpress(handle))));
    const long = ['x'.repeat(93), 'x'.repeat(15_000)].map((name) => `/${name}/plants`);
    for (const path of ['//plants', '/./plants', '/a/../plants', '/a%2fb/plants', '/a?/plants', ...long])
      expect(await send(path), path).toBe(404);
    expect(warnings).not.toHaveBeenCalled();
    await send('/api/plants');
    expect(warnings).toHaveBeenCalledOnce();
  });

  test("the app's own response gives no warning, nor does another path or method", async () => {
    const app = () =>
      express().post('/trees/plants', (_request, response) => void response.send('of the app'));
    const send = await opened((handle) =>
      around(
        app()
          .use(toExpress(handle))
          .post('/api/plants', (_request, response) => void response.send('x')),
      ),
    );
    for (const path of ['/trees/plants', '/api/plants', '/plants', '/api', '/nothing']) await send(path);
    await send('/x/plants', 'GET');
    expect(warnings).not.toHaveBeenCalled();
  });
});
