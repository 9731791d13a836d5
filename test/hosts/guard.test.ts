// A guard as the handler of a route, on each host: real packages, real sockets, one list of requests. `core/guard` has the rest.
import { createServer, type RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import Router from '@koa/router';
import express from 'express';
import express4 from 'express4';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import Koa2 from 'koa2';
import { createPlantStore, guard, type PlantHandler, type PlantRequest } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Client, clientOf } from '../support/client.js';
import { listen, type Running } from '../support/sockets.js';

const onError = vi.fn();
const verifyToken = (token: string) => token === 'good';

// In capitals, because header names have no letter case.
const headers = { 'Content-Type': 'application/json', 'X-Kind': 'own' };

/** What the app returns, by the last segment of the path. */
const answers: Record<string, unknown> = {
  plant: { status: 200, headers, body: '{"name":"Röslein"}' },
  missing: { status: 404, headers, body: '{"error":40499}' },
  allow: { status: 405, headers: { Allow: 'GET' }, body: '' },
  created: { status: 201, headers: {}, body: '' },
  204: { status: 204, headers: { etag: '"1"' }, body: '' },
  205: { status: 205, headers: {}, body: '' },
  304: { status: 304, headers: { etag: '"1"' }, body: '' },
  undefined: { status: 200, headers: { etag: undefined }, body: '{}' },
  list: { status: 200, headers: { etag: ['1', '2'] }, body: '{}' },
  break: { status: 200, headers: { etag: '1\r\nx: y' }, body: '{}' },
  control: { status: 200, headers: { etag: '\0' }, body: '{}' },
  wide: { status: 200, headers: { etag: 'ж' }, body: '{}' },
  name: { status: 200, headers: { 'a b': '1' }, body: '{}' },
  nothing: undefined,
};
const getPlant = guard(verifyToken, ({ url }) => answers[url.split('/').at(-1)!] as never, { onError });

const decoder = new TextDecoder();

async function textOf(body: PlantRequest['body']): Promise<string> {
  const read = typeof body === 'function' ? await body(100_000) : body;
  if (read instanceof Uint8Array) return decoder.decode(read);
  return typeof read === 'object' && read && 'parsed' in read
    ? JSON.stringify(read.parsed)
    : String(read ?? '');
}

const echo = guard(verifyToken, async ({ body }) => ({ status: 201, headers, body: await textOf(body) }));

const handle = createPlantStore(memoryStorage(), verifyToken, { basePath: '/api' });

const theApp = { status: 418, text: 'the app' };

const expressOf =
  (make: typeof express): (() => RequestListener) =>
  () =>
    make()
      .use(toExpress(handle))
      .get('/api/plants/:id', toExpress(getPlant))
      .all('/api/echo', toExpress(echo))
      .use((_request, response) => void response.status(theApp.status).send(theApp.text)) as RequestListener;

const koaOf =
  (Make: typeof Koa): (() => RequestListener) =>
  () => {
    const router = new Router().get('/api/plants/:id', toKoa(getPlant)).all('/api/echo', toKoa(echo));
    const app = new Make().use(toKoa(handle)).use(router.routes() as unknown as Koa.Middleware);
    app.use((context) => {
      context.status = theApp.status;
      context.body = theApp.text;
    });
    return app.callback() as RequestListener;
  };

const hosts: Record<string, () => RequestListener | Promise<RequestListener>> = {
  'node:http': () => {
    const [store, get, post] = [toNode(handle), toNode(getPlant), toNode(echo)];
    return (request, response) => {
      const { method, url } = request;
      const isGet = method === 'GET' || method === 'HEAD';
      if (isGet && url?.startsWith('/api/plants/')) return get(request, response);
      if (url === '/api/echo') return post(request, response);
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
    app.route({ method: ['GET', 'POST'], url: '/api/echo', handler: toFastify(echo) });
    app.setNotFoundHandler((_request, reply) => reply.code(theApp.status).send(theApp.text));
    await app.ready();
    return app.routing as unknown as RequestListener;
  },
  Hono: () => {
    const [store, get, post] = [handle, getPlant, echo].map((one: PlantHandler) => toFetch(one));
    const app = new Hono()
      .post('/api/plants', (context) => store!(context.req.raw))
      .get('/api/plants/:id', (context) => get!(context.req.raw))
      .all('/api/echo', (context) => post!(context.req.raw))
      .all('*', (context) => context.text(theApp.text, theApp.status as 418));
    return getRequestListener(app.fetch) as RequestListener;
  },
};

describe.each(Object.entries(hosts))('on %s, a guarded route', (_host, make) => {
  let running: Running;
  let client: Client;
  beforeAll(async () => {
    running = await listen(createServer(await make()));
    client = clientOf(running.url);
  });
  afterAll(() => running.close());

  const send = (method: string, path: string, body?: string, authorization = 'Bearer good') =>
    client.send({
      method,
      path: `/api/${path}`,
      headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : new TextEncoder().encode(body),
    } as Parameters<Client['send']>[0]);

  test.each([
    ['plant', 200, 'own', '{"name":"Röslein"}'],
    ['missing', 404, 'own', '{"error":40499}'],
    ['allow', 405, null, ''],
    ['created', 201, null, ''],
    ['204', 204, null, ''],
    ['205', 205, null, ''],
    ['304', 304, null, ''],
  ])("sends the app's own response for %s, and to HEAD its headers", async (name, status, kind, text) => {
    const path = `plants/${name}`;
    const get = await send('GET', path);
    expect([get.status, get.headers.get('x-kind'), get.text]).toEqual([status, kind, text]);
    // Nothing of the host's own (RFC 9110 §15.3.5).
    if ([204, 205, 304].includes(status)) expect(get.headers.get('content-type')).toBe(null);
    const head = await send('HEAD', path);
    expect([head.status, head.text]).toEqual([status, '']);
    // RFC 9110 §8.6
    expect([null, get.headers.get('content-length')]).toContain(head.headers.get('content-length'));
  });

  test.each(['undefined', 'list', 'break', 'control', 'wide', 'name', 'nothing'])(
    'turns a response that no host can send (%s) into an Error, and reports it',
    async (name) => {
      onError.mockClear();
      const { status, text } = await send('GET', `plants/${name}`);
      expect([status, JSON.parse(text).error]).toEqual([500, 50000]);
      expect(onError).toHaveBeenCalledTimes(1);
    },
  );

  test.each(['GET', 'HEAD'])('rejects %s without a token', async (method) => {
    const { status, headers, text } = await send(method, 'plants/plant', undefined, '');
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="plants"']);
    if (method === 'GET') expect(JSON.parse(text)).toMatchObject({ error: 40101 });
    else expect([null, '82']).toContain(headers.get('content-length'));
  });

  test('leaves other methods to the app, and works next to POST /plants', async () => {
    expect(await send('DELETE', 'plants/plant')).toMatchObject(theApp);
    expect(await send('POST', 'plants', `{"id":${running.port},"name":"Ilex"}`)).toMatchObject({
      status: 200,
    });
  });

  test('reads the body of a POST, and one that a GET declares, if the host has it', async () => {
    const note = '{"note":"ü"}';
    expect(await send('POST', 'echo', note)).toMatchObject({ status: 201, text: note });
    const get = await send('GET', 'echo', note);
    expect(get.status).toBe(201);
    expect(['', note]).toContain(get.text);
  });

  test('rejects an upload by POST without a token', async () => {
    expect(await send('POST', 'echo', JSON.stringify('x'.repeat(500_000)), '')).toMatchObject({
      status: 401,
    });
  });
});
