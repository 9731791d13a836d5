/** What the usual Fastify plugins add to a route reaches ours, as it reaches a route that is written by hand. */
import swagger from '@fastify/swagger';
import type { FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { createBy, fastifyApp, plants } from '../hosts/mounting/fastify-app.js';
import { load } from '../support/installed.js';

const pluginOf = async (name: string) => (await load(`@fastify/${name}`)).default;
const [compress, cors, helmet, rateLimit, responseValidation, underPressure] = await Promise.all(
  ['compress', 'cors', 'helmet', 'rate-limit', 'response-validation', 'under-pressure'].map(pluginOf),
);
const { jsonSchemaTransform, serializerCompiler, validatorCompiler } =
  await load('fastify-type-provider-zod');
const { z } = await load('zod');

const limit = { max: 3, timeWindow: '1 minute' };
test.each([
  ['globally', { global: true, ...limit }, {}],
  ['by the config of the route', { global: false }, { config: { rateLimit: limit } }],
])('@fastify/rate-limit limits the route %s, whatever the token', async (_how, options, route) => {
  const app = fastifyApp();
  await app.register(rateLimit, options);
  await app.register(plants(route), { prefix: '/api' });
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await app.inject(createBy('bad'))).statusCode);
  expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
});

test('the plugins compress, cors, helmet, rate-limit and under-pressure treat the route of plant-store like any other route', async () => {
  const app = fastifyApp();
  await app.register(compress, { threshold: 0 });
  await app.register(cors, { origin: 'https://shop.example' });
  await app.register(helmet);
  await app.register(rateLimit, { max: 100, timeWindow: '1 minute' });
  await app.register(underPressure, {
    pressureHandler: (_request: unknown, reply: FastifyReply) => void reply.code(503).send('busy'),
  });
  await app.register(plants(), { prefix: '/api' });
  app.post('/by-hand', async (_request, reply) =>
    reply.type('application/json').send('{"name":"Rosa canina"}'),
  );
  const ask = async (url: string) => {
    const request = createBy('good', url);
    const headers = { ...request.headers, origin: 'https://shop.example', 'accept-encoding': 'gzip' };
    const { statusCode, headers: sent } = await app.inject({ ...request, headers });
    const names = Object.keys(sent).filter(
      (name) => !['date', 'content-length', 'transfer-encoding'].includes(name),
    );
    return { statusCode, names: names.sort(), encoding: sent['content-encoding'] };
  };
  const ours = await ask('/api/plants');
  expect(ours).toEqual(await ask('/by-hand'));
  expect(ours).toMatchObject({ statusCode: 200, encoding: 'gzip' });
});

test('@fastify/response-validation, which compiles the schemas of responses, lets the route be', async () => {
  const app = fastifyApp();
  await app.register(responseValidation);
  await app.register(plants(), { prefix: '/api' });
  expect([
    (await app.inject(createBy('good'))).statusCode,
    (await app.inject(createBy('bad'))).statusCode,
  ]).toEqual([200, 401]);
});

test('the line of adapters/hosts/README.md puts the route into the document next to those with Zod schemas', async () => {
  const app = fastifyApp().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  const transform = (route: { url: string }) =>
    route.url.endsWith('/plants') ? route : jsonSchemaTransform(route);
  await app.register(swagger, { openapi: { openapi: '3.1.0' }, transform });
  await app.register(plants(), { prefix: '/api' });
  app.post('/trees', { schema: { body: z.object({ height: z.number() }) } }, async () => 'planted');
  await app.ready();
  const { paths } = app.swagger() as { paths: Record<string, { post: { requestBody: object } }> };
  expect(Object.keys(paths).sort()).toEqual(['/api/plants', '/trees']);
  expect(JSON.stringify(paths['/api/plants']?.post.requestBody)).toContain('int64');
  expect(JSON.stringify(paths['/trees']?.post.requestBody)).toContain('height');
});
