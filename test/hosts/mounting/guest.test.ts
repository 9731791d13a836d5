/** The library is a guest in the app: every request but `POST <mount>/plants` falls through to the app, its body unread. */
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import Router from '@koa/router';
import express from 'express';
import express4 from 'express4';
import Fastify from 'fastify';
import Koa from 'koa';
import mount from 'koa-mount';
import Koa2 from 'koa2';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientOf } from '../../support/client.js';
import { listen, type Running } from '../../support/sockets.js';
import { named } from '../../support/titled.js';

const rose = '{"id":1,"name":"Rosa canina"}';

interface Own {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

/** The app's own routes. The framework's error handler gets what they throw. */
async function own(request: IncomingMessage, url: string): Promise<Own> {
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'POST' };
  if (request.method === 'OPTIONS') return { status: 204, headers: cors, body: '' };
  if (request.method === 'GET' && url === '/api/plants') return { status: 200, body: 'all plants' };
  if (url === '/api/broken') throw new Error('of the app');
  if (url === '/api/echo') return { status: 200, body: await text(request) };
  return { status: 404, body: `no ${url} here` };
}

type Start = (handle: PlantHandler) => Promise<Running>;

const expressApp =
  (make: typeof express): Start =>
  (handle) => {
    const app = make().use('/api', toExpress(handle));
    app.use((request, response, next) => {
      own(request, request.originalUrl)
        .then(({ status, headers, body }) => response.status(status).set(headers).send(body))
        .catch(next);
    });
    const onError: express.ErrorRequestHandler = (error, _request, response, _next) =>
      void response.status(500).send(`caught ${error.message}`);
    return listen(createServer(app.use(onError)), 'http:', '/api');
  };

const koaApp =
  (Make: typeof Koa, mounted: (handle: PlantHandler) => Koa.Middleware): Start =>
  (handle) => {
    const app = new Make().use(async (context, next) => {
      try {
        await next();
      } catch (error) {
        context.status = 500;
        context.body = `caught ${(error as Error).message}`;
      }
    });
    app.use(mounted(handle)).use(async (context) => {
      const { status, headers = {}, body } = await own(context.req, context.url);
      context.set(headers);
      context.body = body;
      context.status = status;
    });
    return listen(createServer(app.callback()), 'http:', '/api');
  };

const apps: readonly { name: string; start: Start; basePath?: string }[] = [
  {
    name: 'node:http with a next',
    start: (handle) => {
      const middleware = toNode(handle);
      const server = createServer((request, response) =>
        middleware(request, response, () => {
          own(request, request.url!).then(
            ({ status, headers, body }) => response.writeHead(status, headers).end(body),
            (error) => response.writeHead(500).end(`caught ${error.message}`),
          );
        }),
      );
      return listen(server, 'http:', '/api');
    },
    basePath: '/api',
  },
  { name: 'Express 5', start: expressApp(express) },
  { name: 'Express 4', start: expressApp(express4 as unknown as typeof express) },
  { name: 'Koa 3', start: koaApp(Koa, toKoa), basePath: '/api' },
  { name: 'Koa 3 with koa-mount', start: koaApp(Koa, (handle) => mount('/api', toKoa(handle))) },
  {
    name: 'Koa 3 with @koa/router',
    start: koaApp(Koa, (handle) => {
      const router = new Router().all('/api/{*rest}', toKoa(handle));
      return router.routes() as unknown as Koa.Middleware;
    }),
    basePath: '/api',
  },
  { name: 'Koa 2', start: koaApp(Koa2 as unknown as typeof Koa, toKoa), basePath: '/api' },
  {
    name: 'Fastify 5',
    start: async (handle) => {
      const app = Fastify();
      app.register(toFastify(handle), { prefix: '/api' });
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', (_request, _payload, done) => done(null));
      app.setErrorHandler((error, _request, reply) =>
        reply.code(500).send(`caught ${(error as Error).message}`),
      );
      const ownRoute = async (request: { raw: IncomingMessage; url: string }, reply: typeof Reply) => {
        const { status, headers = {}, body } = await own(request.raw, request.url);
        return reply.code(status).headers(headers).send(body);
      };
      app.setNotFoundHandler(ownRoute);
      for (const url of ['/api/echo', '/api/broken']) app.all(url, ownRoute);
      app.route({ method: ['GET', 'OPTIONS'], url: '/api/plants', handler: ownRoute });
      await app.ready();
      return listen(app.server, 'http:', '/api');
    },
  },
];

declare const Reply: import('fastify').FastifyReply;

describe.each(named(apps))('as a guest of %s', (_, { start, basePath = '' }) => {
  const started = async () => {
    const running = await start(createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath }));
    onTestFinished(running.close);
    return running;
  };
  const asked = async (method: string, path: string, body?: string) => {
    const { send } = clientOf((await started()).url);
    const headers = { authorization: 'Bearer secret', ...(body && { 'content-type': 'application/json' }) };
    return send({ method, path, headers, body: body ? new TextEncoder().encode(body) : undefined });
  };

  test('plant-store responds to POST /plants', async () => {
    expect(await asked('POST', '/plants', rose)).toMatchObject({
      status: 200,
      text: '{"name":"Rosa canina"}',
    });
  });

  test('the app responds to its own GET /plants', async () => {
    expect(await asked('GET', '/plants')).toMatchObject({ status: 200, text: 'all plants' });
  });

  test('the app responds to its CORS preflight', async () => {
    const { status, headers } = await asked('OPTIONS', '/plants');
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  });

  test('the app shows its 404 page, whatever the credentials', async () => {
    expect(await asked('GET', '/trees')).toMatchObject({ status: 404, text: 'no /api/trees here' });
  });

  test("the app's error handler gets what the app throws", async () => {
    expect(await asked('POST', '/broken', rose)).toMatchObject({ status: 500, text: 'caught of the app' });
  });

  test('hazard: the body of a request that falls through is still complete', async () => {
    const megabyte = 'x'.repeat(2 ** 20);
    expect((await asked('POST', '/echo', megabyte)).text === megabyte).toBe(true);
  });

  test('hazard: a body that arrives after its request fell through is complete too', async () => {
    const { url } = await started();
    const request = httpRequest(`${url}/echo`, { method: 'POST', headers: { 'content-type': 'text/plain' } });
    const answered = new Promise<IncomingMessage>((resolve) => request.on('response', resolve));
    request.flushHeaders();
    request.write('early ');
    setImmediate(() => request.end('late'));
    expect(await text(await answered)).toBe('early late');
  });

  // Sent byte by byte, because HTTP clients tidy such paths up.
  test.each([
    '/x/api/plants',
    '/api/x/../plants',
    '/api/./plants',
    '/api/%70lants',
    '/api/plants%2f',
    '/api%2fplants',
    '/api/plants%00',
    '/api/plants\\',
    '/api/plants/',
    '/plants/../api/plants',
    '/api/plants%3F',
    '/apix/plants',
  ])('hazard: %s is not the operation', async (path) => {
    const { url } = await started();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${rose.length}\r\n\r\n${rose}`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 40[04] /);
  });

  // Not with a basePath: there the library itself checks the mount.
  if (basePath === '') {
    test('behind a mount, the path without the mount is not the operation', async () => {
      const { url } = await started();
      const { send } = clientOf(new URL(url).origin);
      const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
      const body = new TextEncoder().encode(rose);
      expect(await send({ method: 'POST', path: '/plants', headers, body })).toMatchObject({
        status: 404,
        text: 'no /plants here',
      });
    });
  }
});

describe('toFastify', () => {
  const prepared = async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    const ran: string[] = [];
    for (const hook of [
      'onRequest',
      'preParsing',
      'preValidation',
      'preHandler',
      'onSend',
      'onResponse',
    ] as const) {
      app.addHook(hook as 'preHandler', async () => void ran.push(hook));
    }
    app.register(toFastify(createPlantStore(memoryStorage(), acceptTokens('secret'))), { prefix: '/api' });
    await app.ready();
    return { app, ran };
  };
  const request = {
    method: 'POST',
    url: '/api/plants',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    body: rose,
  } as const;

  test('responds to app.inject()', async () => {
    const { app } = await prepared();
    const answer = await app.inject(request);
    expect([answer.statusCode, answer.body]).toEqual([200, '{"name":"Rosa canina"}']);
  });

  test("runs the app's onRequest, onSend and onResponse hooks, but no hook that needs a parsed body", async () => {
    const { app, ran } = await prepared();
    await app.inject(request);
    expect(ran).toEqual(['onRequest', 'onSend', 'onResponse']);
  });

  test('rejects a wrong Content-Type itself, before Fastify returns 415', async () => {
    const { app } = await prepared();
    const answer = await app.inject({ ...request, headers: { ...request.headers, 'content-type': 'a/b' } });
    expect(answer.json()).toMatchObject({ error: 40005 });
  });

  test("responds where a hook of the app adds an OPTIONS route for each route, which stays the app's", async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    app.addHook('onRoute', function ({ method, routePath }) {
      if (method === 'POST') this.options(routePath, async () => 'of the app');
    });
    app.register(toFastify(createPlantStore(memoryStorage(), acceptTokens('secret'))), { prefix: '/api' });
    expect((await app.inject({ method: 'OPTIONS', url: '/api/plants' })).body).toBe('of the app');
    expect((await app.inject(request)).statusCode).toBe(200);
  });

  test('works under nested prefixes, with parameters, and under one that begins like the operation', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    const plugin = toFastify(createPlantStore(memoryStorage(), acceptTokens('secret')), {});
    app.register(async (outer) => void outer.register(plugin, { prefix: '/v1' }), { prefix: '/:tenant' });
    app.register(plugin, { prefix: '/plants/v2' });
    expect((await app.inject({ ...request, url: '/roses/v1/plants?x=/y' })).statusCode).toBe(200);
    expect((await app.inject({ ...request, url: '/plants/v2/plants' })).json().error).toBe(40003);
  });
});
