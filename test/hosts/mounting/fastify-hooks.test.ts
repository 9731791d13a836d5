// The hooks of an app and of its plugins run for the route of plant-store, as for one that is written by hand.
import type { AddressInfo, Socket } from 'node:net';
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

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
