import { Validator } from '@seriousme/openapi-schema-validator';
import type { OpenAPIV3_1 } from 'openapi-types';
import { type OpenApiDocument, type OpenApiOptions, openapi } from 'plant-store/openapi';
import { describe, expect, expectTypeOf, test } from 'vitest';

// One for all, because it compiles the schema of OpenAPI once.
const validator = new Validator();

async function expectValid(document: object): Promise<void> {
  expect(await validator.validate({ ...structuredClone(document) })).toEqual({ valid: true });
  const at = (pointer: string) =>
    pointer.split('/').reduce<unknown>((value, key) => Object(value)[key], document);
  const unresolved = refsOf(document).filter((ref) => at(ref.slice(2)) === undefined);
  expect(unresolved).toEqual([]);
}

/** Every `$ref` of a value. */
function refsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => (key === '$ref' ? [member] : refsOf(member)));
}

const merging = { basePath: '/api', prefix: 'PlantStore', bearerAuth: 'jwt' } as const;

test.each<[string, OpenApiOptions]>([
  ['no option', {}],
  ['basePath', { basePath: '/api/v1' }],
  ['a prefix', { prefix: 'Garden.' }],
  ['a prefix with a name of the others', { prefix: 'New' }],
  ['a basePath that ends as the operation', { basePath: '/plants' }],
  ['servers', { servers: [{ url: '/api', description: 'here' }] }],
  ['what an app with names of its own gives', merging],
])('%s makes a valid document, in which every reference leads somewhere', async (_what, options) => {
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
    const named = [{ [bearerAuth]: [] }];
    expect([security, paths['/plants'].post.security]).toEqual([named, named]);
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
  expect(first.paths).not.toBe(second.paths);
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
  const required = [PlantStoreNewPlant.allOf[1].required, PlantStoreError.required];
  expect(required).toEqual([['id'], ['error', 'message']]);
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
