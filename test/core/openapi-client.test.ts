// A typed client made from the document, by the types of examples/clients, which openapi-fetch.test.ts keeps up to date.
import createClient from 'openapi-fetch';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { expect, expectTypeOf, it } from 'vitest';
import type { components, paths } from '../../examples/clients/plant-types.js';

type Schemas = components['schemas'];

const plants = new Map<bigint, NewPlant>();
const client = createClient<paths>({
  baseUrl: 'http://localhost',
  headers: { authorization: 'Bearer secret' },
  fetch: toFetch(createPlantStore(memoryStorage(plants), acceptTokens('secret'))),
});

it('a typed client creates a plant, and gets the reason of an error by its code', async () => {
  const create = (name: string) =>
    client.POST('/plants', {
      body: { id: 9007199254740993n, name },
      bodySerializer: ({ id, ...rest }) => `{"id":${id},${JSON.stringify(rest).slice(1)}`,
    });
  const { data } = await create('Rosa canina');
  expectTypeOf(data).toEqualTypeOf<Schemas['Plant'] | undefined>();
  expect(data).toEqual({ name: 'Rosa canina' });
  expect([...plants.values()]).toEqual([{ id: 9007199254740993n, name: 'Rosa canina' }]);
  const { error } = await create('Ilex');
  expectTypeOf(error).toEqualTypeOf<Schemas['Error'] | undefined>();
  const message = 'A plant with id 9007199254740993 exists. Choose another id.';
  expect(error).toEqual({ error: 40003, message });
});

it('a typed client rejects invalid requests at compile time', () => {
  const never = () => [
    // @ts-expect-error id is required
    client.POST('/plants', { body: { name: 'Rosa' } }),
    // @ts-expect-error name is required
    client.POST('/plants', { body: { id: 1n } }),
    // @ts-expect-error a tag is a string
    client.POST('/plants', { body: { id: 1n, name: 'Rosa', tag: 1 } }),
    // @ts-expect-error a body is required
    client.POST('/plants'),
    // @ts-expect-error there is one operation
    client.GET('/plants'),
    // @ts-expect-error there is one path
    client.POST('/trees', { body: { id: 1n, name: 'Rosa' } }),
  ];
  expect(never).toBeInstanceOf(Function);
});
