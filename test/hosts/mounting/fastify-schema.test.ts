// The route as the app's own OpenAPI document shows it.
import swagger from '@fastify/swagger';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { openapi } from 'plant-store/openapi';
import { describe, expect, test } from 'vitest';
import { createBy, fastifyApp, plants } from './fastify-app.js';

type Options = Parameters<typeof plants>[0];
type Swagger = Parameters<typeof swagger>[1];

async function appWith(route?: Options, options: Swagger = {}): Promise<FastifyInstance> {
  const app = fastifyApp();
  await app.register(swagger, options);
  app.register(plants(route), { prefix: '/api' });
  await app.ready();
  return app;
}

const documentOf = async (route?: Options, options?: Swagger) =>
  (await appWith(route, options)).swagger() as OpenAPIV3_1.Document;

const contract = openapi();
const { post } = contract.paths['/plants'];
const info = { title: 'An app', version: '1.0.0' };

test('a plugin that compiles the schemas of responses is told to let the route be', async () => {
  // What @fastify/response-validation documents: its Ajv does not know the formats of OpenAPI.
  const seen: unknown[] = [];
  const app = fastifyApp();
  app.addHook(
    'onRoute',
    (route) => void seen.push((route as { responseValidation?: boolean }).responseValidation),
  );
  app.register(plants(), { prefix: '/api' });
  await app.ready();
  expect(seen).toEqual([false]);
});

describe.each(['3.0.3', '3.1.0'])("in the app's document, OpenAPI %s", (version) => {
  const options = { openapi: { openapi: version, info } };

  test('which is valid, the route has the body, each response and the rest of the operation', async () => {
    const document = await documentOf(undefined, options);
    expect(Object.keys(document.paths!)).toEqual(['/api/plants']);
    const operation = document.paths!['/api/plants']!.post!;
    expect(operation).toMatchObject({
      operationId: post.operationId,
      summary: post.summary,
      tags: post.tags,
    });
    const { content } = operation.requestBody as OpenAPIV3_1.RequestBodyObject;
    expect(content).toMatchObject({
      'application/json': { schema: { allOf: [{ required: ['name'] }, { required: ['id'] }] } },
    });
    const responses = operation.responses as Record<string, OpenAPIV3_1.ResponseObject>;
    expect(Object.keys(responses)).toEqual(Object.keys(post.responses));
    for (const [status, { description, content, headers }] of Object.entries(responses)) {
      const { [status as '401']: documented } = post.responses;
      expect(description).toBe(documented.description);
      const required = status === '200' ? ['name'] : ['error', 'message'];
      expect(content).toMatchObject({ 'application/json': { schema: { type: 'object', required } } });
      const texts = (described: object = {}) =>
        Object.entries(described).map(([name, { description }]) => [name, description]);
      expect(texts(headers)).toEqual(texts(documented.headers));
    }
    expect(operation).not.toHaveProperty('security');
    expect(JSON.stringify(operation)).not.toContain('$ref');
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  });
});

describe('what the app gives', () => {
  test("the route names a security scheme of the app's document", async () => {
    const components = { securitySchemes: { token: { type: 'http' as const, scheme: 'bearer' } } };
    const document = await documentOf(
      { schema: { security: [{ token: [] }], tags: ['Garden'] } },
      { openapi: { info, components } },
    );
    expect(document.paths!['/api/plants']!.post).toMatchObject({
      security: [{ token: [] }],
      tags: ['Garden'],
    });
  });

  test('`hide` keeps the route out of the document', async () => {
    expect((await documentOf({ schema: { hide: true } })).paths).toEqual({});
  });

  test.each<[string, unknown, RegExp]>([
    ['another option', { schmea: {} }, /^unknown option schmea; the options are schema, config$/],
    ['a schema that is none', { schema: true }, /^schema must be an object, got true$/],
    ['a config that is none', { config: 'x' }, /^config must be an object, got "x"$/],
  ])('%s is a TypeError at once', (_what, route, message) => {
    expect(() => plants(route as Options)).toThrow(TypeError);
    expect(() => plants(route as Options)).toThrow(message);
  });
});

test('hazard: an app whose compilers take other schemas still starts, because the schema decides nothing', async () => {
  const app = fastifyApp();
  const refuse = () => {
    throw new Error('this is no schema of mine');
  };
  app.setValidatorCompiler(refuse);
  app.setSerializerCompiler(refuse);
  app.register(plants(), { prefix: '/api' });
  expect(await app.inject(createBy('good'))).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Rosa canina"}',
  });
});

// 401: the path is plant-store's, and the request has no token.
test.each<[object, string, number]>([
  [{}, '/api/plants', 401],
  [{}, '/api/plants/', 404],
  [{}, '/api/PLANTS', 404],
  [{}, '/api//plants', 404],
  [{ routerOptions: { ignoreTrailingSlash: true } }, '/api/plants/', 401],
  [{ routerOptions: { ignoreTrailingSlash: true } }, '/api/plants/?x=/', 401],
  [{ routerOptions: { caseSensitive: false } }, '/API/Plants', 401],
  [{ routerOptions: { ignoreDuplicateSlashes: true } }, '/api//plants', 401],
  [{ routerOptions: { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true } }, '/api/plants//', 401],
  [{ routerOptions: { useSemicolonDelimiter: true } }, '/api/plants;x=1', 401],
  [{}, '/api/plants;x=1', 404],
  [{ routerOptions: { ignoreTrailingSlash: true } }, '/api/%70lants', 401],
  [{ routerOptions: { ignoreTrailingSlash: true } }, '/api/%70lants/', 401],
])("by the app's options for paths %j, %s returns %i", async (options, url, status) => {
  const app = fastifyApp(options);
  app.register(plants(), { prefix: '/api' });
  expect((await app.inject({ method: 'POST', url })).statusCode).toBe(status);
});
