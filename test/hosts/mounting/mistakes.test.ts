// A mount without its adapter, an adapter without its handler, the adapter of another host: TypeScript refuses most of them, and
// to JavaScript each says what to write, at once or to the first request. None of them hangs.
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import type { Server } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import mount from 'koa-mount';
import { acceptTokens, createPlantStore, guard, type PlantHandler } from 'plant-store';
import { toExpress, toRoute as toExpressRoute } from 'plant-store/express';
import { toFastify, toRoute as toFastifyRoute } from 'plant-store/fastify';
import { toFetch, toRoute } from 'plant-store/fetch';
import { toKoa, toRoute as toKoaRoute } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { clientOf } from '../../support/client.js';
import { createRequest, rose } from '../../support/plants.js';
import { listen } from '../../support/sockets.js';
import { expresses, koas } from '../hosts.js';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };

/** The message says to make a handler, and to give it to the adapter of any host. */
const advice = /with an adapter, such as toExpress\(createPlantStore\(storage, verifyToken\)\)/;

/** A function in the place of another: the types refuse it, JavaScript does not. */
// biome-ignore lint/suspicious/noExplicitAny: that it fits everywhere is the mistake
const wrong = (value: unknown) => value as any;

/** What a host's error handler, or the console, got. */
const told = vi.fn();
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation((error) => told(String(error))));
const expectTold = (what = advice) => {
  expect(told.mock.calls.length).toBeGreaterThan(0);
  for (const call of told.mock.calls) expect(call).toEqual([expect.stringMatching(what)]);
};

/** What an adapter of another host says there. */
const lineOf = (host: string) =>
  /^Koa/.test(host)
    ? /another host. Write toKoa\(handle\), or as a route toRoute\(handle\), from 'plant-store\/koa'/
    : /another host. Write toExpress\(handle\), or as a route toRoute\(handle\), from 'plant-store\/express'/;
afterEach(() => {
  vi.restoreAllMocks();
  told.mockClear();
});

async function responseOf(server: Server, protocol = 'http:') {
  const { url, close } = await listen(server, protocol);
  onTestFinished(close);
  const client = clientOf(url);
  onTestFinished(() => client.close());
  return client.send({ method: 'POST', path: '/api/plants', headers, body: new TextEncoder().encode(rose) });
}

/** A server of Node ends its process by what its listener throws. Here it is caught, as by a domain or a test runner. */
const caught =
  (mounted: unknown): RequestListener =>
  (request, response) => {
    try {
      wrong(mounted)(request, response);
    } catch (error) {
      told(String(error));
      response.writeHead(500).end();
    }
  };

const onExpress = (app: express.Express) =>
  createServer(
    app.use(((error, _request, response, _next) => {
      told(String(error));
      response.sendStatus(500);
    }) as express.ErrorRequestHandler),
  );
const onKoa = (Make: typeof Koa, middleware: Koa.Middleware) => {
  const app = new Make().use(middleware);
  app.on('error', (error) => told(String(error)));
  return createServer(app.callback());
};

/** Hosts on Node. */
const nodeHosts: [name: string, serve: (mounted: unknown) => Server][] = [
  ['node:http', (mounted) => createServer(caught(mounted))],
  ...Object.entries(expresses).flatMap(([name, make]): typeof nodeHosts => [
    [`${name}, use`, (mounted) => onExpress(make().use('/api', wrong(mounted)))],
    [`${name}, a route`, (mounted) => onExpress(make().post('/api/plants', wrong(mounted)))],
  ]),
  ...Object.entries(koas).map(([name, Make]): (typeof nodeHosts)[0] => [
    name,
    (mounted) => onKoa(Make, wrong(mounted)),
  ]),
  ['Koa, koa-mount', (mounted) => onKoa(Koa, mount('/api', wrong(mounted)))],
];

describe.each(nodeHosts)('a wrong mount on %s', (host, serve) => {
  const nothing = Object.entries({
    handle,
    toNode,
    toExpress,
    toKoa,
    toFetch,
    toRoute,
    toExpressRoute,
    toKoaRoute,
  });
  test.each(nothing)(
    'of %s alone is a 500 of the host, which gets what to write',
    async (_mistake, mounted) => {
      expect((await responseOf(serve(mounted))).status).toBe(500);
      expectTold();
    },
  );

  const mistakes: [string, unknown, unless?: RegExp][] = [
    ["Fetch's adapter", toFetch(handle)],
    ["Fetch's route", toRoute(handle)],
    ["Koa's adapter", toKoa(handle), /^Koa/],
    ["Koa's route", toKoaRoute(handle), /^Koa/],
    ["Express's adapter", toExpress(handle), /^(node|Express)/],
    ["Express's route", toExpressRoute(handle), /^(node|Express)/],
  ];
  const made = mistakes.filter(([, , unless]) => !unless?.test(host));
  test.each(made)('of %s is a 500 of the host, which gets the line for itself', async (_mistake, mounted) => {
    expect((await responseOf(serve(mounted))).status).toBe(500);
    expectTold(lineOf(host));
  });
});

test('on node:http2 the handler alone throws what to write', async () => {
  expect((await responseOf(createHttp2(wrong(caught(handle))), 'h2c:')).status).toBe(500);
  expectTold();
});

describe('on Fastify', () => {
  test.each(Object.entries({ handle, toFastify, toFastifyRoute, toFetch }))(
    'a route that is %s alone returns what to write',
    async (_name, mounted) => {
      const app = Fastify();
      onTestFinished(() => app.close());
      app.post('/api/plants', wrong(mounted));
      const answer = await app.inject({ method: 'POST', url: '/api/plants', payload: {} });
      expect([answer.statusCode, answer.json().message]).toEqual([500, expect.stringMatching(advice)]);
    },
  );

  test.each<[string, unknown]>([
    ["Express's adapter", toExpress(handle)],
    ["Koa's route", toKoaRoute(handle)],
    ["Fetch's route", toRoute(handle)],
  ])('a route that is %s returns the line of Fastify', async (_name, mounted) => {
    const app = Fastify();
    onTestFinished(() => app.close());
    app.post('/api/plants', wrong(mounted));
    const answer = await app.inject({ method: 'POST', url: '/api/plants', payload: {} });
    const line = /another host. Write app.register\(toFastify\(handle\), { prefix: '\/api' }\)/;
    expect([answer.statusCode, answer.json().message]).toEqual([500, expect.stringMatching(line)]);
  });

  test('a route is for a guard: of the handler of createPlantStore it throws the line of toFastify', () => {
    expect(() => toFastifyRoute(handle)).toThrow(
      /write app.register\(toFastify\(handle\), { prefix: '\/api' }\)/,
    );
    expect(
      toFastifyRoute(guard(acceptTokens('secret'), () => ({ status: 204, headers: {}, body: '' }))),
    ).toBeTypeOf('function');
  });

  test("its route throws, on another host, that host's line", () => {
    const route = toFastifyRoute(
      guard(acceptTokens('secret'), () => ({ status: 204, headers: {}, body: '' })),
    );
    const ofExpress = { rawHeaders: [], headers: {} };
    expect(() => wrong(route)(ofExpress, {}, () => {})).toThrow(/another host. Write toExpress\(handle\)/);
  });

  test('a guard that is registered fails the start with the line of a route', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    const route = toFastifyRoute(
      guard(acceptTokens('secret'), () => ({ status: 204, headers: {}, body: '' })),
    );
    app.register(wrong(route));
    await expect(app.ready()).rejects.toThrow(/Write app.get\('\/plants\/:id', toRoute\(getPlant\)\)/);
  });

  // Fastify itself ends the process by what a plugin throws.
  test.each(Object.entries({ handle, toFastify }))('a plugin that is %s alone throws', (_name, plugin) => {
    expect(() => wrong(plugin)(Fastify(), { prefix: '/api' }, () => {})).toThrow(advice);
  });
});

describe('a host that speaks Fetch', () => {
  test.each(Object.entries({ handle, toFetch, toNode }))(
    'shows what to write if it is given %s alone',
    async (_name, mounted) => {
      const request = () =>
        new Request('http://localhost/api/plants', { method: 'POST', headers, body: rose });
      const call = async (...given: unknown[]) => wrong(mounted)(...given);
      // As Bun, Deno, Workers and Next call it.
      for (const rest of [{ requestIP() {} }, { remoteAddr: {} }, {}, { params: Promise.resolve({}) }])
        await expect(call(request(), rest, { waitUntil() {} })).rejects.toThrow(advice);

      for (const mount of [
        new Hono().post('/api/plants', wrong(mounted)),
        new Hono().mount('/api', wrong(mounted)),
      ]) {
        const shown = vi.fn((_error: Error) => new Response('', { status: 500 }));
        mount.onError(shown);
        expect((await mount.fetch(request(), {})).status).toBe(500);
        expect(shown.mock.calls[0]?.[0].message).toMatch(advice);
      }

      const listener = getRequestListener(wrong(mounted)) as RequestListener;
      expect((await responseOf(createServer(listener))).status).toBe(500);
    },
  );
});

describe('a host that passes a Request, or a context with one', () => {
  const request = new Request('http://localhost/api/plants', { method: 'POST', headers, body: rose });
  test.each<[string, unknown, RegExp]>([
    [
      'a Request',
      request,
      /Write toFetch\(handle\), or as a route toRoute\(handle\), from 'plant-store\/fetch'/,
    ],
    [
      "Hono's context",
      { req: { raw: request } },
      /Write app.post\('\/api\/plants', \(c\) => plants\(c.req.raw\)\)/,
    ],
    ["h3's event", { req: request }, /\({ request }\) => plants\(request\)/],
    ["SvelteKit's event", { request }, /\({ request }\) => plants\(request\)/],
  ])('gets its line from the adapters of others: %s', (_what, given, line) => {
    for (const mounted of [toNode(handle), toExpressRoute(handle)])
      expect(() => wrong(mounted)(given)).toThrow(line);
    if (given !== request) expect(() => wrong(toRoute(handle))(given)).toThrow(line);
  });

  test('nothing at all gets the line of any host', () => {
    expect(() => wrong(toRoute(handle))()).toThrow(advice);
  });
});

test('a third argument that is no function is no next: find-my-way passes parameters there', async () => {
  const expected = [
    [toNode(handle), 404],
    [toExpressRoute(handle), 405],
  ] as const;
  for (const [plants, status] of expected) {
    const listener: RequestListener = (request, response) => wrong(plants)(request, response, { id: '7' });
    const { url, close } = await listen(createServer(listener));
    onTestFinished(close);
    expect((await fetch(`${url}/trees`)).status).toBe(status);
  }
});

describe('an adapter throws at once', () => {
  const adapters = {
    ...{ toNode, toExpress, toKoa, toFastify, toFetch },
    ...{ toRoute, toExpressRoute, toKoaRoute, toFastifyRoute },
  };
  const values = {
    nothing: undefined,
    null: null,
    'a string': 'x',
    'a storage': memoryStorage(),
    'a promise of a handler': Promise.resolve(handle),
    guard,
  };
  test.each(Object.entries(adapters))(
    'if %s is given createPlantStore instead of a handler',
    (_, adapter) => {
      expect(() => adapter(wrong(createPlantStore))).toThrow(TypeError);
      expect(() => adapter(wrong(createPlantStore))).toThrow(advice);
    },
  );
  test.each(Object.entries(values))('if toNode is given %s instead of a handler', (_what, value) => {
    expect(() => toNode(wrong(value))).toThrow(TypeError);
    expect(() => toNode(wrong(value))).toThrow(advice);
  });
});

test('a function of the app may have any name: a wrapper of the handler that is called guard is mounted', async () => {
  const guard: PlantHandler = async (request) => handle(request);
  const createPlantStore: PlantHandler = (request) => handle(request);
  for (const wrapped of [guard, createPlantStore]) {
    const response = await responseOf(createServer(toNode(wrapped)));
    expect([response.status, JSON.parse(response.text).error]).toEqual([404, 40401]);
    for (const adapter of [toExpress, toKoa, toFastify, toFetch, toRoute])
      expect(adapter(wrapped)).toBeTypeOf('function');
  }
});

test.each([null, undefined, '', 'key', 0, 7, true])(
  'handle ignores a second argument that is no object, such as %s',
  async (second) => {
    expect(
      (await wrong(createPlantStore(memoryStorage(), () => true))(createRequest('secret'), second)).status,
    ).toBe(200);
  },
);
