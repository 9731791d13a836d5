// The document as a part of the app's own: other names, each reference following, valid in every merge.
import swagger from '@fastify/swagger';
import { Validator } from '@seriousme/openapi-schema-validator';
import Fastify from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { memoryStorage } from 'plant-store/memory';
import { type OpenApiDocument, type OpenApiOptions, openapi } from 'plant-store/openapi';
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { problems } from '../../src/problems.js';

const info = { title: 'A garden', version: '2.0.0', license: { name: 'MIT', identifier: 'MIT' } };
const jwt = { type: 'http' as const, scheme: 'bearer', bearerFormat: 'JWT' };

/** An app's document with names that plant-store has too. */
const own = {
  openapi: '3.1.0',
  info,
  servers: [{ url: 'https://example.com' }],
  paths: {
    '/api/beds': {
      get: {
        operationId: 'listBeds',
        summary: 'List beds',
        security: [{ jwt: [] as string[] }],
        responses: {
          200: {
            description: 'beds',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Plant' } } },
          },
          400: {
            description: 'bad',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        },
      },
    },
  },
  components: {
    securitySchemes: { jwt },
    schemas: { Error: { type: 'string' as const }, Plant: { type: 'integer' as const } },
  },
};

/** The merge of examples/README.md. */
function merge(plants: { paths: object; components: { schemas: object; securitySchemes: object } }) {
  const { schemas, securitySchemes } = plants.components;
  return {
    ...own,
    paths: { ...own.paths, ...plants.paths },
    components: {
      ...own.components,
      schemas: { ...own.components.schemas, ...schemas },
      securitySchemes: { ...own.components.securitySchemes, ...securitySchemes },
    },
  };
}

async function expectValid(document: object): Promise<void> {
  expect(await new Validator().validate({ ...structuredClone(document) })).toEqual({ valid: true });
  const unresolved = refsOf(document).filter(
    (ref) =>
      ref
        .slice(2)
        .split('/')
        .reduce<unknown>((value, key) => Object(value)[key], document) === undefined,
  );
  expect(unresolved).toEqual([]);
}

/** Every `$ref` of a value. */
function refsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => (key === '$ref' ? [member] : refsOf(member)));
}

const merging = { basePath: '/api', prefix: 'PlantStore', bearerAuth: 'jwt' } as const;

describe("after a merge into the app's document", () => {
  const document = merge(openapi(merging));

  test('the document is valid, as 3.1 and as 3.0', async () => {
    await expectValid(document);
    await expectValid({ ...document, openapi: '3.0.3', info: { title: 'A garden', version: '2.0.0' } });
  });

  test("the app's own schemas, schemes and paths stay as they are", () => {
    expect(document).toMatchObject(own);
    expect(document.components.securitySchemes).toEqual({ jwt });
    expect(Object.keys(document.paths)).toEqual(['/api/beds', '/api/plants']);
    expect(Object.keys(document.components.schemas)).toEqual([
      ...['Error', 'Plant', 'PlantStorePlant', 'PlantStoreNewPlant', 'PlantStoreError'],
    ]);
  });

  test("the operation asks for the app's token, and keeps its name", () => {
    const { post } = openapi(merging).paths['/api/plants'];
    expect([post.security, post.operationId]).toEqual([[{ jwt: [] }], 'createPlant']);
  });
});

test.each<[string, OpenApiOptions]>([
  ['basePath', { basePath: '/api/v1' }],
  ['a prefix', { prefix: 'Garden.' }],
  ['a prefix with a name of the others', { prefix: 'New' }],
  ['a basePath that ends as the operation', { basePath: '/plants' }],
  ['servers', { servers: [{ url: '/api', description: 'here' }] }],
])('%s alone makes a valid document, in which every reference leads somewhere', async (_what, options) => {
  const document = openapi(options);
  await expectValid(document);
  const { basePath = '', prefix = '' } = options;
  expect(Object.keys(document.paths)).toEqual([`${basePath}/plants`]);
  expect(Object.keys(document.components.schemas)).toEqual(
    ['Plant', 'NewPlant', 'Error'].map((name) => prefix + name),
  );
  const targets = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect([...new Set(refsOf(document))].sort()).toEqual(targets.sort());
});

test("a scheme of the app is named everywhere and defined nowhere, even if it is called as plant-store's", () => {
  for (const bearerAuth of ['jwt', 'bearerAuth']) {
    const { security, paths, components } = openapi({ bearerAuth });
    expect([security, paths['/plants'].post.security]).toEqual([
      [{ [bearerAuth]: [] }],
      [{ [bearerAuth]: [] }],
    ]);
    expect(components.securitySchemes).toEqual({});
  }
});

test('what a caller changes in one document is not changed in the next, nor in the options', () => {
  const servers = [{ url: '/api' }] as const;
  const document = openapi({ servers });
  document.servers[0]!.url = '/changed';
  document.servers.push({ url: '/more' });
  expect(servers).toEqual([{ url: '/api' }]);
  const [first, second] = [openapi(), openapi()];
  first.servers[0]!.url = '/changed';
  first.security[0]!.bearerAuth.push('scope');
  expect(first.paths['/plants'].post.security).toEqual([{ bearerAuth: [] }]);
  expect(openapi()).toEqual(second);
});

test('each error says whether to send the request again', () => {
  const document = openapi();
  const answers = { ...document.paths['/plants'].post.responses, ...document['x-responses'] };
  const rows = document.components.schemas.Error.description;
  for (const [name, [error]] of Object.entries(problems)) {
    const { examples } = answers[Math.trunc(error / 100) as 400].content['application/json'];
    const { description } = examples[name]!;
    expect([name, description]).toEqual([name, expect.stringMatching(/[Ss]end the request again/)]);
    expect(rows).toMatch(
      new RegExp(
        `\\| ${error} .*\\| (yes|no|after a change|with another token|only with acceptReplays|only after Retry-After) \\|$`,
        'm',
      ),
    );
  }
  const { busy, timed_out } = answers[503].content['application/json'].examples;
  expect([busy!.description, timed_out!.description]).toEqual([
    expect.stringContaining('nothing was stored'),
    expect.stringContaining('may be stored'),
  ]);
});

describe('an invalid option is a TypeError', () => {
  test.each<[string, readonly unknown[]]>([
    ['servers', [null, {}, '/', [{}], [null], [{ url: 7 }]]],
    ['basePath', ['api', '/api/', '/', '/a b', '/{tenant}', 7, null]],
    ['prefix', ['Plant Store', '/', 'Ü', '#', 'a/b', 7, null]],
    ['bearerAuth', ['', 'my token', '#/x', 7, null, {}]],
  ])('that names %s', (name, values) => {
    for (const value of values) {
      const make = () => openapi({ [name]: value } as OpenApiOptions);
      expect(make).toThrow(TypeError);
      expect(make).toThrow(new RegExp(`^${name} must be .*, got `));
    }
  });

  test('that names it, if it is misspelt', () => {
    expect(() => openapi({ basepath: '/api' } as object)).toThrow(
      new TypeError('unknown option basepath; the options are servers, basePath, prefix, bearerAuth'),
    );
  });
});

test('the types have the names that were given', () => {
  const document = openapi(merging);
  expectTypeOf(document).toEqualTypeOf<OpenApiDocument<typeof merging>>();
  const { PlantStoreNewPlant, PlantStoreError } = document.components.schemas;
  expect([PlantStoreNewPlant.allOf[1].required, PlantStoreError.required]).toEqual([
    ['id'],
    ['error', 'message'],
  ]);
  expect(document.security[0]!.jwt).toEqual([]);
  const never = () => [
    // @ts-expect-error the path has its base
    document.paths['/plants'],
    // @ts-expect-error the schema has its prefix
    document.components.schemas.Plant,
    // @ts-expect-error the app defines the scheme
    document.components.securitySchemes.bearerAuth,
    // @ts-expect-error a misspelt option
    openapi({ bearerauth: 'jwt' }),
    // @ts-expect-error a misspelt option next to others
    openapi({ basePath: '/api', bearerauth: 'jwt' }),
  ];
  expect(never).toBeInstanceOf(Function);
  const taken: OpenAPIV3_1.Document = document;
  const plain: OpenApiDocument = openapi();
  const based: OpenApiDocument<{ basePath: '/api' }> = openapi({ basePath: '/api' });
  expect(based.security).toEqual(plain.security);
  expect([taken, plain.components.securitySchemes.bearerAuth.scheme]).toEqual([document, 'bearer']);
});

describe('in @fastify/swagger', () => {
  const plants = () => toFastify(createPlantStore(memoryStorage(), acceptTokens('secret')));

  async function documentOf(
    options: Parameters<typeof swagger>[1],
    plugin = plants(),
  ): Promise<OpenAPIV3_1.Document> {
    const app = Fastify();
    onTestFinished(() => app.close());
    await app.register(swagger, options);
    app.register(plugin, { prefix: '/api' });
    await app.ready();
    return app.swagger() as OpenAPIV3_1.Document;
  }

  test("the route's schema names the app's scheme, if it is dynamic", async () => {
    const { servers, components } = own;
    const served = await documentOf(
      { openapi: { openapi: '3.1.0', info, servers, components } },
      toFastify(createPlantStore(memoryStorage(), acceptTokens('secret')), {
        schema: { security: [{ jwt: [] }] },
      }),
    );
    expect(served.paths?.['/api/plants']?.post?.security).toEqual([{ jwt: [] }]);
    await expectValid(served);
  });

  test('the route names no scheme if none is given', async () => {
    const served = await documentOf({ openapi: { openapi: '3.1.0', info } });
    expect(served.paths?.['/api/plants']?.post).not.toHaveProperty('security');
  });

  test('the route can be hidden, and merged by transformObject', async () => {
    const { openapi: version, servers, components } = own;
    const plugin = toFastify(createPlantStore(memoryStorage(), acceptTokens('secret')), {
      schema: { hide: true },
    });
    const served = await documentOf(
      {
        openapi: { openapi: version, info, servers, components },
        transformObject: (given) => {
          const { openapiObject } = given as { openapiObject: Partial<OpenAPIV3_1.Document> };
          const { paths, components } = openapi(merging);
          return {
            ...openapiObject,
            paths: { ...openapiObject.paths, ...paths },
            components: {
              ...openapiObject.components,
              schemas: { ...openapiObject.components?.schemas, ...components.schemas },
            },
          } as never;
        },
      },
      plugin,
    );
    expect(Object.keys(served.paths!)).toEqual(['/api/plants']);
    expect(served.components?.schemas).toMatchObject({ Error: { type: 'string' }, PlantStoreError: {} });
    await expectValid(served);
  });
});
