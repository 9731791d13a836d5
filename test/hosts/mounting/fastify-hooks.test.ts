// The hooks of an app and of its plugins run for the route of plant-store, as for one that is written by hand.
import type { Socket } from 'node:net';
import type { RouteOptions } from 'fastify';
import { createPlantStore } from 'plant-store';
import { type FastifyMount, toFastify } from 'plant-store/fastify';
import { expect, test, vi } from 'vitest';
import { createBy, fastifyApp, plants } from './fastify-app.js';

const added = ['onRequest', 'onSend', 'onResponse', 'onError', 'onTimeout'] as const;
const fails = toFastify(() => Promise.reject(new Error('of a wrapper')));

test.each<[string, FastifyMount, string[]]>([
  ['a create', plants(), ['onRequest', 'onSend', 'onResponse']],
  ['a wrapper of handle that fails', fails, ['onRequest', 'onError', 'onSend', 'onResponse']],
])('%s runs every hook that a plugin adds in onRoute', async (_what, plugin, expected) => {
  const app = fastifyApp();
  const ran: string[] = [];
  app.addHook('onRoute', (route: RouteOptions) => {
    for (const name of added) Object.assign(route, { [name]: [async () => void ran.push(name)] });
  });
  app.register(plugin, { prefix: '/api' });
  await app.inject(createBy('good'));
  expect(ran).toEqual(expected);
});

test("a create runs the app's onRequest, onSend and onResponse hooks, but no hook that needs a parsed body", async () => {
  const app = fastifyApp();
  const ran: string[] = [];
  const parsing = ['preParsing', 'preValidation', 'preHandler'] as const;
  for (const hook of ['onRequest', ...parsing, 'onSend', 'onResponse'] as const)
    app.addHook(hook as 'preHandler', async () => void ran.push(hook));
  app.register(plants(), { prefix: '/api' });
  const answer = await app.inject(createBy('good'));
  expect([answer.statusCode, answer.body]).toEqual([200, '{"name":"Rosa canina"}']);
  expect(ran).toEqual(['onRequest', 'onSend', 'onResponse']);
});

test('a connection that times out while the storage works runs the onTimeout hook', async () => {
  const app = fastifyApp({ connectionTimeout: 60_000 });
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
  const { url, ...request } = createBy('good');
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  await expect(fetch(origin + url, request)).rejects.toThrow();
  expect(ran).toHaveBeenCalledOnce();
});

test("toFastify responds where a hook of the app adds an OPTIONS route for each route, which stays the app's", async () => {
  const app = fastifyApp();
  app.addHook('onRoute', function ({ method, routePath }) {
    if (method === 'POST') this.options(routePath, async () => 'of the app');
  });
  app.register(plants(), { prefix: '/api' });
  expect((await app.inject({ method: 'OPTIONS', url: '/api/plants' })).body).toBe('of the app');
  expect((await app.inject(createBy('good'))).statusCode).toBe(200);
});

test('toFastify works under nested prefixes, with parameters, and under one that begins like the operation', async () => {
  const app = fastifyApp();
  const plugin = plants({});
  app.register(async (outer) => void outer.register(plugin, { prefix: '/v1' }), { prefix: '/:tenant' });
  app.register(plugin, { prefix: '/plants/v2' });
  expect((await app.inject(createBy('good', '/roses/v1/plants?x=/y'))).statusCode).toBe(200);
  expect((await app.inject(createBy('good', '/plants/v2/plants'))).json().error).toBe(40003);
});
