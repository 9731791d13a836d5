// A guard as the handler of a route, on each host: real packages, real sockets, one list of requests. `core/guard` has the rest.
import { createServer } from 'node:http';
import Router from '@koa/router';
import type express from 'express';
import Fastify, { type FastifyInstance } from 'fastify';
import { getRouterParams, H3 } from 'h3';
import type Koa from 'koa';
import {
  type BodyError,
  createPlantStore,
  guard,
  type PlantRequest,
  type PlantResponse,
  type ReadBody,
} from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify, toRoute as toFastifyRoute } from 'plant-store/fastify';
import { toFetch, toRoute as toFetchRoute } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode, toRoute } from 'plant-store/node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Client, clientOf } from '../support/client.js';
import { listen, type Running, Wire } from '../support/sockets.js';
import { expresses, koas, onExpress, onHono, onKoa, routesOf, type Start, theApp } from './hosts.js';

// In capitals, because header names have no letter case.
const headers = { 'Content-Type': 'application/json', 'X-Kind': 'own' };

/** What the app returns, by the last segment of the path. */
const answers: Record<string, PlantResponse> = {
  plant: { status: 200, headers, body: '{"name":"Röslein"}' },
  missing: { status: 404, headers, body: '{"error":40499}' },
  allow: { status: 405, headers: { Allow: 'GET' }, body: '' },
  created: { status: 201, headers: {}, body: '' },
  204: { status: 204, headers: { etag: '"1"' }, body: '' },
  205: { status: 205, headers: {}, body: '' },
  304: { status: 304, headers: { etag: '"1"' }, body: '' },
};

async function textOf(body: PlantRequest['body']): Promise<string> {
  const read = typeof body === 'function' ? await body(100_000) : body;
  if (read instanceof Uint8Array) return new TextDecoder().decode(read);
  return typeof read === 'object' && read && 'parsed' in read
    ? JSON.stringify(read.parsed)
    : String(read ?? '');
}

/** What a guard gets of a body of at most ten bytes. */
async function kindOf(body: PlantRequest['body']): Promise<string> {
  try {
    const read = await (body as ReadBody)(10);
    return read.constructor.name;
  } catch (error) {
    return (error as BodyError).problem;
  }
}

const verifyToken = (token: string) => token === 'good';
const guarded = guard(verifyToken, async ({ url, body, params }) => {
  // On node:http there is no router.
  const name = params ? String(params.name) : url.split('/').at(-1)!;
  if (name === 'kind') return { status: 200, headers, body: await kindOf(body) };
  return name === 'echo' ? { status: 201, headers, body: await textOf(body) } : answers[name]!;
});

/** The operation next to the guard, in the same app. */
const store = createPlantStore(memoryStorage(), verifyToken, { basePath: '/api' });

const onFastify: Start = async (handle) => {
  const app: FastifyInstance = Fastify();
  app.register(toFastify(store), { prefix: '/api' });
  app.route({ method: ['GET', 'POST'], url: '/api/:name', handler: toFastifyRoute(handle) });
  await app.ready();
  return listen(app.server);
};

const routeOnExpress = (make: typeof express) =>
  onExpress(make, (app, _, route) =>
    app.use(toExpress(store)).get('/api/:name', route).post('/api/:name', route),
  );

const routeOnKoa = (Make: typeof Koa) =>
  onKoa(Make, (_, route) => {
    const router = new Router();
    router.get('/api/:name', route as never).post('/api/:name', route as never);
    return [toKoa(store), routesOf(router)];
  });

const hosts: Record<string, Start> = {
  'node:http': (handle) => {
    const [first, second] = [toNode(store), toRoute(handle)];
    return listen(
      createServer((request, response) => first(request, response, () => second(request, response))),
    );
  },
  ...Object.fromEntries(Object.entries(expresses).map(([name, make]) => [name, routeOnExpress(make)])),
  ...Object.fromEntries(Object.entries(koas).map(([name, Make]) => [name, routeOnKoa(Make)])),
  Fastify: onFastify,
  Hono: onHono((app, route) => {
    const fetch = toFetch(store);
    app.post('/api/plants', (context) => fetch(context.req.raw));
    return app.on(['GET', 'POST'], '/api/:name', ({ req }) => route(req.raw, { params: req.param() }));
  }, toFetchRoute),
};

describe.each(Object.entries(hosts))('on %s, a guarded route', (host, start) => {
  let running: Running;
  let client: Client;
  beforeAll(async () => {
    running = await start(guarded, {});
    client = clientOf(new URL(running.url).origin);
  });
  afterAll(() => running.close());

  const send = (method: string, name: string, body?: string, authorization = 'Bearer good') =>
    client.send({
      method,
      path: `/api/${name}`,
      headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : new TextEncoder().encode(body),
    });

  test.each(Object.entries(answers))(
    "sends the app's own response for %s, and to HEAD its headers",
    async (name, own) => {
      const { status, body: text } = own;
      const get = await send('GET', name);
      const kind = own.headers['X-Kind'] ?? null;
      expect([get.status, get.headers.get('x-kind'), get.text]).toEqual([status, kind, text]);
      // Nothing of the host's own (RFC 9110 §15.3.5), nor the type that a Response gives to an empty text.
      if ([204, 205, 304].includes(status) || (text === '' && host === 'Hono'))
        expect(get.headers.get('content-type')).toBe(null);
      // RFC 9110 §8.6
      if (status === 204) expect(get.headers.get('content-length')).toBe(null);
      const head = await send('HEAD', name);
      expect([head.status, head.text]).toEqual([status, '']);
      expect([null, get.headers.get('content-length')]).toContain(head.headers.get('content-length'));
    },
  );

  test('rejects a GET, a HEAD and an upload without a token', async () => {
    const { status, headers, text } = await send('GET', 'plant', undefined, '');
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="plants"']);
    expect(JSON.parse(text)).toMatchObject({ error: 40101 });
    const head = await send('HEAD', 'plant', undefined, '');
    expect(head.status).toBe(401);
    expect([null, String(text.length)]).toContain(head.headers.get('content-length'));
    const large = JSON.stringify('x'.repeat(500_000));
    expect(await send('POST', 'echo', large, '')).toMatchObject({ status: 401 });
  });

  test('leaves other methods to the app, and works next to POST /plants', async () => {
    // On node:http there is no router.
    if (host !== 'node:http')
      expect([404, 405, theApp.status]).toContain((await send('DELETE', 'plant')).status);
    expect(await send('POST', 'plants', `{"id":${running.port},"name":"Ilex"}`)).toMatchObject({
      status: 200,
      text: '{"name":"Ilex"}',
    });
  });

  test('reads the body of a POST, and one that a GET declares, if the host has it', async () => {
    const note = '{"note":"ü"}';
    expect(await send('POST', 'echo', note)).toMatchObject({ status: 201, text: note });
    const get = await send('GET', 'echo', note);
    expect(get.status).toBe(201);
    expect(['', note]).toContain(get.text);
  });
});

// Fastify has parsed it.
const unparsed = Object.entries(hosts).filter(([host]) => host !== 'Fastify');
test.each(unparsed)(
  'on %s, a guard gets bytes within its own limit, of one class whether they came at once or in parts',
  async (_, start) => {
    const running = await start(guarded, {});
    onTestFinished(running.close);
    const head = [
      'POST /api/kind HTTP/1.1',
      'Host: a',
      'Authorization: Bearer good',
      'Content-Type: application/json',
    ];
    const kind = async (...parts: readonly string[]) => {
      const wire = await Wire.open(running.port);
      const length = `Content-Length: ${parts.join('').length}`;
      const [first, ...rest] = parts;
      await wire.write([...head, length, '', first].join('\r\n'));
      for (const part of rest) {
        await new Promise((resolve) => setImmediate(resolve));
        await wire.write(part);
      }
      return (await wire.answer()).text;
    };
    expect([await kind('"0123456"'), await kind('"012', '3456"')]).toEqual(['Uint8Array', 'Uint8Array']);
    expect([await kind('"012345678"'), await kind('"012', '345678"')]).toEqual([
      'body_too_large',
      'body_too_large',
    ]);
  },
);

describe('the parameters of a route are request.params', () => {
  const seen = guard(verifyToken, ({ params }) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params ?? null),
  }));
  const authorization = 'Bearer good';
  const paramsOf = async (start: Start, path: string) => {
    const running = await start(seen);
    const response = await fetch(new URL(path, running.url), { headers: { authorization } });
    await running.close();
    return response.json();
  };
  const path = '/acme/plants/R%C3%B6se';
  const params = { tenant: 'acme', id: 'R\u00f6se' };

  test.each(Object.entries(expresses))(
    "of %s, with an outer router's if the inner merges them",
    async (_, make) => {
      const route = (merged: boolean) =>
        onExpress(make, (app, _plants, route) =>
          app.use('/:tenant', make.Router({ mergeParams: merged }).get('/plants/:id', route)),
        );
      expect(await paramsOf(route(true), path)).toEqual(params);
      expect(await paramsOf(route(false), path)).toEqual({ id: params.id });
    },
  );

  test.each(Object.entries(koas))('of @koa/router in %s', async (_, Make) => {
    const start = onKoa(Make, (_plants, route) =>
      routesOf(new Router().get('/:tenant/plants/:id', route as never)),
    );
    expect(await paramsOf(start, path)).toEqual(params);
  });

  test('of Fastify', async () => {
    const app = Fastify().get('/:tenant/plants/:id', toFastifyRoute(seen));
    const { body } = await app.inject({ url: path, headers: { authorization } });
    expect(JSON.parse(body)).toEqual(params);
  });

  const route = toFetchRoute(seen);

  test('of h3, which decodes them when asked to', async () => {
    const app = new H3().get('/:tenant/plants/:id', (event) =>
      route(event.req, { params: getRouterParams(event, { decode: true }) }),
    );
    const response = await app.request(path, { headers: { authorization } });
    expect(await response.json()).toEqual(params);
  });

  const request = () => new Request(`http://localhost${path}`, { headers: { authorization } });
  const ofBun = () => Object.assign(request(), { params });
  test.each<[string, () => ReturnType<typeof route>, object | null]>([
    ['as Next passes them', () => route(request(), { params: Promise.resolve(params) }), params],
    ['as an app passes them', () => route(request(), { params }), params],
    [
      'of a request of Bun, whose second argument is its server',
      () => route(ofBun(), { requestIP() {} }),
      params,
    ],
    ['of none', () => route(request()), null],
    ['of a bad kind', () => route(request(), { params: 'x' }), null],
  ])('of a Fetch host, %s', async (_, answer, expected) => {
    expect(await ((await answer()) as Response).json()).toEqual(expected);
  });

  test('of a middleware below a mount with a parameter, for the verifier', async () => {
    const tenants: unknown[] = [];
    const handle = createPlantStore(memoryStorage(), (_token, { request }) =>
      tenants.push(request.params?.tenant),
    );
    for (const make of Object.values(expresses)) {
      const running = await onExpress(make, (app, plants) => app.use('/:tenant', plants))(handle);
      await fetch(`${running.url}/acme/plants`, { method: 'POST', headers: { authorization } });
      await running.close();
    }
    expect(tenants).toEqual(['acme', 'acme']);
  });
});
