import { createServer } from 'node:http';
import createClient, { type Client } from 'openapi-fetch';
import openapiTS, { astToString } from 'openapi-typescript';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { openapi } from 'plant-store/openapi';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { listen } from '../support/sockets.js';
import type { components, paths } from './openapi-generated.js';

type Schemas = components['schemas'];

it('openapi-generated.ts is what openapi-typescript makes of the document (npm run test:only -- -u writes it anew)', async () => {
  // Without descriptions, because they change more often than the types.
  const text = JSON.stringify(openapi(), (key, value) =>
    key === 'description' && typeof value === 'string' ? undefined : value,
  );
  const types = astToString(await openapiTS(text));
  const head = '// Made by openapi-typescript from plant-store/openapi. Do not edit.\n';
  await expect(head + types).toMatchFileSnapshot('openapi-generated.ts');
});

describe('a typed client made from the document, against a running server', () => {
  const plants = new Map<bigint, NewPlant>();
  let server: Awaited<ReturnType<typeof listen>>;
  let client: Client<paths>;

  beforeAll(async () => {
    server = await listen(
      createServer(toNode(createPlantStore(memoryStorage(plants), acceptTokens('secret')))),
    );
    const baseUrl = `http://127.0.0.1:${server.port}`;
    client = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer secret' } });
  });
  afterAll(() => server.close());

  it('creates a plant', async () => {
    const { data, error, response } = await client.POST('/plants', {
      body: { id: 1, name: 'Rosa canina', tag: 'shrub' },
    });
    expectTypeOf(data).toEqualTypeOf<Schemas['Plant'] | undefined>();
    expect({ data, error, status: response.status }).toEqual({
      data: { name: 'Rosa canina', tag: 'shrub' },
      error: undefined,
      status: 200,
    });
    expect(plants.get(1n)).toEqual({ id: 1n, name: 'Rosa canina', tag: 'shrub' });
  });

  it('gets the reason of an error by its code', async () => {
    await client.POST('/plants', { body: { id: 2, name: 'Quercus robur' } });
    const { data, error } = await client.POST('/plants', { body: { id: 2, name: 'Ilex' } });
    expectTypeOf(error).toEqualTypeOf<Schemas['Error'] | undefined>();
    expect({ data, error }).toEqual({
      data: undefined,
      error: { error: 40003, message: 'A plant with id 2 exists. Choose another id.' },
    });
  });

  it('gets an Error if it sends no token', async () => {
    const { error, response } = await client.POST('/plants', {
      body: { id: 3, name: 'Ilex' },
      headers: { authorization: null },
    });
    expect([response.status, error?.error]).toEqual([401, 40101]);
  });

  it('sends an id beyond 2^53 as JSON text', async () => {
    const { response } = await client.POST('/plants', {
      body: { id: 0, name: 'Acer' },
      bodySerializer: ({ name }) => `{"id":9007199254740993,"name":${JSON.stringify(name)}}`,
    });
    expect(response.status).toBe(200);
    expect(plants.get(9007199254740993n)).toEqual({ id: 9007199254740993n, name: 'Acer' });
  });

  it('rejects invalid requests at compile time', () => {
    const never = () => [
      // @ts-expect-error id is required
      client.POST('/plants', { body: { name: 'Rosa' } }),
      // @ts-expect-error name is required
      client.POST('/plants', { body: { id: 1 } }),
      // @ts-expect-error a tag is a string
      client.POST('/plants', { body: { id: 1, name: 'Rosa', tag: 1 } }),
      // @ts-expect-error a body is required
      client.POST('/plants'),
      // @ts-expect-error there is one operation
      client.GET('/plants'),
      // @ts-expect-error there is one path
      client.POST('/trees', { body: { id: 1, name: 'Rosa' } }),
    ];
    expect(never).toBeInstanceOf(Function);
  });
});

it('openapi-typescript makes an int64 a bigint with the transform of examples/README.md', async () => {
  const types = astToString(
    await openapiTS(JSON.stringify(openapi()), {
      transform: ({ format }) =>
        format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined,
    }),
  );
  expect(types).toMatch(/\bid: bigint;/);
  expect(types).not.toMatch(/\bid: number;/);
});
