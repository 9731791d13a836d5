/** What the usual Fastify plugins add to a route reaches ours, as it reaches a route that is written by hand. */
import type { AddressInfo, Socket } from 'node:net';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import underPressure from '@fastify/under-pressure';
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import { jsonSchemaTransform, serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';

const store = () => createPlantStore(memoryStorage(), acceptTokens('good'));
const createRequest = (token: string) => ({
  method: 'POST' as const,
  url: '/api/plants',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: '{"id":1,"name":"Rosa canina"}',
});

function made(): FastifyInstance {
  const app = Fastify();
  onTestFinished(() => app.close());
  return app;
}

async function statuses(app: FastifyInstance, token: string): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < 6; i++) found.push((await app.inject(createRequest(token))).statusCode);
  return found;
}

describe('@fastify/rate-limit', () => {
  const limit = { max: 3, timeWindow: '1 minute' };

  test.each([
    ['globally', { global: true, ...limit }, {}],
    ['by the config of the route', { global: false }, { config: { rateLimit: limit } }],
  ])('limits the route %s, whatever the token', async (_how, options, route) => {
    const app = made();
    await app.register(rateLimit, options);
    await app.register(toFastify(store(), route), { prefix: '/api' });
    expect(await statuses(app, 'bad')).toEqual([401, 401, 401, 429, 429, 429]);
  });

  test('adds its headers to a create', async () => {
    const app = made();
    await app.register(rateLimit, limit);
    await app.register(toFastify(store()), { prefix: '/api' });
    expect((await app.inject(createRequest('good'))).headers).toMatchObject({ 'x-ratelimit-remaining': '2' });
  });
});

const added = ['onRequest', 'onSend', 'onResponse', 'onError', 'onTimeout'] as const;

test.each<[string, PlantHandler, string[]]>([
  ['a create', store(), ['onRequest', 'onSend', 'onResponse']],
  [
    'a wrapper of handle that fails',
    async () => Promise.reject(new Error('of the wrapper')),
    ['onRequest', 'onError', 'onSend', 'onResponse'],
  ],
])('%s runs every hook that a plugin adds in onRoute', async (_what, handle, expected) => {
  const app = made();
  const ran: string[] = [];
  app.addHook('onRoute', (route: RouteOptions) => {
    for (const name of added) Object.assign(route, { [name]: [async () => void ran.push(name)] });
  });
  app.register(toFastify(handle), { prefix: '/api' });
  await app.inject(createRequest('good'));
  expect(ran).toEqual(expected);
});

test('a connection that times out while the storage works runs the onTimeout hook', async () => {
  const app = Fastify({ connectionTimeout: 60_000 });
  onTestFinished(() => app.close());
  const ran = vi.fn(async () => {});
  app.addHook('onRoute', (route: RouteOptions) => {
    route.onTimeout = ran;
  });
  let socket: Socket | undefined;
  app.server.on('connection', (opened) => {
    socket = opened;
  });
  // Node emits this when the time is over.
  const create = () => new Promise<never>(() => socket!.emit('timeout'));
  app.register(toFastify(createPlantStore({ create }, () => true)), { prefix: '/api' });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const { url, ...request } = createRequest('good');
  await expect(fetch(`http://127.0.0.1:${port}${url}`, request)).rejects.toThrow();
  expect(ran).toHaveBeenCalledOnce();
});

test('the plugins compress, cors, helmet, rate-limit and under-pressure treat the route of plant-store like any other route', async () => {
  const app = made();
  await app.register(compress, { threshold: 0 });
  await app.register(cors, { origin: 'https://shop.example' });
  await app.register(helmet);
  await app.register(rateLimit, { max: 100, timeWindow: '1 minute' });
  await app.register(underPressure, {
    pressureHandler: (_request, reply) => void reply.code(503).send('busy'),
  });
  await app.register(toFastify(store()), { prefix: '/api' });
  app.post('/by-hand', async (_request, reply) =>
    reply.type('application/json').send('{"name":"Rosa canina"}'),
  );
  const ask = async (url: string) => {
    const request = createRequest('good');
    const headers = { ...request.headers, origin: 'https://shop.example', 'accept-encoding': 'gzip' };
    const { statusCode, headers: sent } = await app.inject({ ...request, url, headers });
    const names = Object.keys(sent).filter(
      (name) => !['date', 'content-length', 'transfer-encoding'].includes(name),
    );
    return { statusCode, names: names.sort(), encoding: sent['content-encoding'] };
  };
  const ours = await ask('/api/plants');
  expect(ours).toEqual(await ask('/by-hand'));
  expect(ours).toMatchObject({ statusCode: 200, encoding: 'gzip' });
});

test('the line of adapters/hosts/README.md puts the route into the document next to those with Zod schemas', async () => {
  const app = made().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  const transform: typeof jsonSchemaTransform = (route) =>
    route.url.endsWith('/plants') ? route : jsonSchemaTransform(route);
  await app.register(swagger, { openapi: { openapi: '3.1.0' }, transform });
  await app.register(toFastify(store()), { prefix: '/api' });
  app.post('/trees', { schema: { body: z.object({ height: z.number() }) } }, async () => 'planted');
  await app.ready();
  const { paths } = app.swagger() as { paths: Record<string, { post: { requestBody: object } }> };
  expect(Object.keys(paths).sort()).toEqual(['/api/plants', '/trees']);
  expect(JSON.stringify(paths['/api/plants']?.post.requestBody)).toContain('int64');
  expect(JSON.stringify(paths['/trees']?.post.requestBody)).toContain('height');
});

describe('toFastify', () => {
  const request = createRequest('good');

  test("responds to app.inject(), and runs the app's onRequest, onSend and onResponse hooks, but no hook that needs a parsed body", async () => {
    const app = made();
    const ran: string[] = [];
    const parsing = ['preParsing', 'preValidation', 'preHandler'] as const;
    for (const hook of ['onRequest', ...parsing, 'onSend', 'onResponse'] as const)
      app.addHook(hook as 'preHandler', async () => void ran.push(hook));
    app.register(toFastify(store()), { prefix: '/api' });
    const answer = await app.inject(request);
    expect([answer.statusCode, answer.body]).toEqual([200, '{"name":"Rosa canina"}']);
    expect(ran).toEqual(['onRequest', 'onSend', 'onResponse']);
  });

  test("responds where a hook of the app adds an OPTIONS route for each route, which stays the app's", async () => {
    const app = made();
    app.addHook('onRoute', function ({ method, routePath }) {
      if (method === 'POST') this.options(routePath, async () => 'of the app');
    });
    app.register(toFastify(store()), { prefix: '/api' });
    expect((await app.inject({ method: 'OPTIONS', url: '/api/plants' })).body).toBe('of the app');
    expect((await app.inject(request)).statusCode).toBe(200);
  });

  test('works under nested prefixes, with parameters, and under one that begins like the operation', async () => {
    const app = made();
    const plugin = toFastify(store(), {});
    app.register(async (outer) => void outer.register(plugin, { prefix: '/v1' }), { prefix: '/:tenant' });
    app.register(plugin, { prefix: '/plants/v2' });
    expect((await app.inject({ ...request, url: '/roses/v1/plants?x=/y' })).statusCode).toBe(200);
    expect((await app.inject({ ...request, url: '/plants/v2/plants' })).json().error).toBe(40003);
  });
});
