// A guard as the handler of a route, on each host: real packages, real sockets, one list of requests.
import { createServer, type RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import Router from '@koa/router';
import express from 'express';
import express4 from 'express4';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import Koa2 from 'koa2';
import {
  createPlantStore,
  guard,
  InsufficientScope,
  type NewPlant,
  type PlantHandler,
  type PlantRequest,
  StorageBusy,
} from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Client, clientOf } from '../support/client.js';
import { listen, type Running } from '../support/sockets.js';

const onError = vi.fn();
const plants = new Map<bigint, NewPlant>();
const storage = memoryStorage(plants);

const verifyToken = (token: string) => {
  if (token === 'outage') throw new Error('inside');
  if (token === 'scopeless') throw new InsufficientScope('plants:read');
  return token === 'good' && { name: 'alice' };
};

/** Handlers of the app's own, each of an id in the path. */
const oddities: Record<string, () => unknown> = {
  '-1': () => {
    throw new Error('inside');
  },
  '-2': () => new Promise(() => {}),
  '-3': () => undefined,
  '-4': () => {
    throw new StorageBusy();
  },
  '-5': () => {
    throw new InsufficientScope('plants:admin');
  },
  '-6': () => ({ status: 204, headers: {}, body: '' }),
  '-7': () => ({ status: 405, headers: { Allow: 'GET' }, body: '' }),
};

// In capitals, because header names have no letter case.
const headers = { 'Content-Type': 'application/json', 'X-Kind': 'own' };
const error = (status: number, number: number) => ({
  status,
  headers,
  body: JSON.stringify({ error: number, message: "the app's own" }),
});

const getPlant = guard(
  verifyToken,
  async ({ url }, context) => {
    const id = /\/plants\/(-?\d{1,19})(?:\?|$)/.exec(url)?.[1];
    if (!id) return error(400, 40099);
    if (oddities[id]) return oddities[id]() as never;
    const plant = await storage.find?.(BigInt(id), context);
    if (!plant) return error(404, 40499);
    return { status: 200, headers, body: JSON.stringify({ name: plant.name, by: context.caller.name }) };
  },
  { timeoutMs: 200, onError },
);

const decoder = new TextDecoder();

async function textOf(body: PlantRequest['body']): Promise<string> {
  const read = typeof body === 'function' ? await body(100_000) : body;
  if (read instanceof Uint8Array) return decoder.decode(read);
  return typeof read === 'object' && read && 'parsed' in read ? JSON.stringify(read.parsed) : String(read);
}

const postNote = guard(verifyToken, async ({ body }) => ({ status: 201, headers, body: await textOf(body) }));

const handle = createPlantStore(storage, verifyToken, { basePath: '/api' });

const theApp = { status: 418, text: 'the app' };

const expressOf =
  (make: typeof express): (() => RequestListener) =>
  () =>
    make()
      .use(toExpress(handle))
      .get('/api/plants/:id', toExpress(getPlant))
      .post('/api/notes', toExpress(postNote))
      .use((_request, response) => void response.status(theApp.status).send(theApp.text)) as RequestListener;

const koaOf =
  (Make: typeof Koa): (() => RequestListener) =>
  () => {
    const router = new Router().get('/api/plants/:id', toKoa(getPlant)).post('/api/notes', toKoa(postNote));
    const app = new Make().use(toKoa(handle)).use(router.routes() as unknown as Koa.Middleware);
    app.use((context) => {
      context.status = theApp.status;
      context.body = theApp.text;
    });
    return app.callback() as RequestListener;
  };

const hosts: Record<string, () => RequestListener | Promise<RequestListener>> = {
  'node:http': () => {
    const [store, get, post] = [toNode(handle), toNode(getPlant), toNode(postNote)];
    return (request, response) => {
      const { method, url } = request;
      const isGet = method === 'GET' || method === 'HEAD';
      if (isGet && url?.startsWith('/api/plants/')) return get(request, response);
      if (method === 'POST' && url === '/api/notes') return post(request, response);
      store(request, response, () => response.writeHead(theApp.status).end(theApp.text));
    };
  },
  'Express 5': expressOf(express),
  'Express 4': expressOf(express4 as unknown as typeof express),
  'Koa 3': koaOf(Koa),
  'Koa 2': koaOf(Koa2 as unknown as typeof Koa),
  Fastify: async () => {
    const app = Fastify();
    app.register(toFastify(handle), { prefix: '/api' });
    app.get('/api/plants/:id', toFastify(getPlant));
    app.post('/api/notes', toFastify(postNote));
    app.setNotFoundHandler((_request, reply) => reply.code(theApp.status).send(theApp.text));
    await app.ready();
    return app.routing as unknown as RequestListener;
  },
  Hono: () => {
    const [store, get, post] = [handle, getPlant, postNote].map((one: PlantHandler) => toFetch(one));
    const app = new Hono()
      .post('/api/plants', (context) => store!(context.req.raw))
      .get('/api/plants/:id', (context) => get!(context.req.raw))
      .post('/api/notes', (context) => post!(context.req.raw))
      .all('*', (context) => context.text(theApp.text, theApp.status as 418));
    return getRequestListener(app.fetch) as RequestListener;
  },
};

beforeEach(() => {
  plants.clear();
  plants.set(7n, { id: 7n, name: 'Rosa canina' });
  onError.mockClear();
});

describe.each(Object.entries(hosts))('on %s, a guarded route', (_host, make) => {
  let running: Running;
  let client: Client;
  beforeAll(async () => {
    running = await listen(createServer(await make()));
    client = clientOf(running.url);
  });
  afterAll(() => running.close());

  const send = (path: string, authorization = 'Bearer good', method = 'GET', body?: string) =>
    client.send({
      method,
      path,
      headers: {
        ...(authorization && { authorization }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : new TextEncoder().encode(body),
    } as Parameters<Client['send']>[0]);

  test('returns the response of the app, for the caller', async () => {
    const { status, headers, text } = await send('/api/plants/7?verbose=1', 'bearer good');
    expect([status, JSON.parse(text)]).toEqual([200, { name: 'Rosa canina', by: 'alice' }]);
    expect([headers.get('content-type'), headers.get('x-kind')]).toEqual(['application/json', 'own']);
  });

  test.each([
    ['404', '/api/plants/8', 404, 40499],
    ['400', '/api/plants/rose', 400, 40099],
  ])("sends the app's own %s", async (_name, path, status, number) => {
    const response = await send(path);
    expect([response.status, response.headers.get('x-kind')]).toEqual([status, 'own']);
    expect(JSON.parse(response.text)).toEqual({ error: number, message: "the app's own" });
  });

  test.each([
    ['204', '/api/plants/-6', 204, 'allow', null],
    ['405', '/api/plants/-7', 405, 'allow', 'GET'],
  ])("sends the app's own %s without a body", async (_name, path, status, name, value) => {
    const response = await send(path);
    expect([response.status, response.headers.get(name), response.text]).toEqual([status, value, '']);
  });

  test.each([
    ['no token', '', 40101, 'Bearer realm="plants"'],
    ['an invalid token', 'Bearer bad', 40102, 'Bearer realm="plants", error="invalid_token"'],
    [
      'a token without the scope',
      'Bearer scopeless',
      40301,
      'Bearer realm="plants", error="insufficient_scope", scope="plants:read"',
    ],
  ])('rejects a request with %s', async (_name, authorization, number, challenge) => {
    const { status, headers, text } = await send('/api/plants/7', authorization);
    expect([status, headers.get('www-authenticate')]).toEqual([Math.trunc(number / 100), challenge]);
    expect(JSON.parse(text)).toEqual({ error: number, message: expect.any(String) });
    expect(onError).not.toHaveBeenCalled();
  });

  test.each([
    ['an outage of the verifier', '/api/plants/7', 'Bearer outage', 50002, null],
    ['a throw', '/api/plants/-1', 'Bearer good', 50000, null],
    ['a timeout', '/api/plants/-2', 'Bearer good', 50302, null],
    ['no response', '/api/plants/-3', 'Bearer good', 50000, null],
    ['a busy storage', '/api/plants/-4', 'Bearer good', 50301, '1'],
  ])('turns %s into an Error, and reports it', async (_name, path, authorization, number, retryAfter) => {
    const { status, headers, text } = await send(path, authorization);
    expect([status, headers.get('retry-after')]).toEqual([Math.trunc(number / 100), retryAfter]);
    expect(JSON.parse(text)).toEqual({ error: number, message: expect.any(String) });
    expect(text).not.toContain('inside');
    expect(onError).toHaveBeenCalledTimes(1);
  });

  test('returns 403 if the app wants another scope', async () => {
    const { status, headers } = await send('/api/plants/-5');
    expect([status, headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="plants", error="insufficient_scope", scope="plants:admin"',
    ]);
  });

  test.each([
    ['200', '/api/plants/7', 'Bearer good', 200],
    ['404', '/api/plants/8', 'Bearer good', 404],
    ['401', '/api/plants/7', '', 401],
    ['500', '/api/plants/-1', 'Bearer good', 500],
  ])('sends %s to HEAD without a body', async (_name, path, authorization, expected) => {
    const { status, headers, text } = await send(path, authorization, 'HEAD');
    expect([status, headers.get('content-type'), text]).toEqual([expected, 'application/json', '']);
  });

  test.each(['PUT', 'DELETE'])('leaves %s to the app', async (method) => {
    expect(await send('/api/plants/7', '', method)).toMatchObject(theApp);
  });

  test('works next to POST /plants', async () => {
    const { status } = await send('/api/plants', 'Bearer good', 'POST', '{"id":9,"name":"Ilex"}');
    expect([status, plants.get(9n)?.name]).toEqual([200, 'Ilex']);
    expect(await send('/api/plants/9')).toMatchObject({ status: 200 });
  });

  test('reads the body of a POST', async () => {
    const response = await send('/api/notes', 'Bearer good', 'POST', '{"note":"ü"}');
    expect(response).toMatchObject({ status: 201, text: '{"note":"ü"}' });
  });

  test('rejects an upload by POST without a token', async () => {
    const upload = JSON.stringify('x'.repeat(500_000));
    expect(await send('/api/notes', '', 'POST', upload)).toMatchObject({ status: 401 });
  });
});
