// Names that every object inherits, wherever a client or an app can send one: each is looked up as any other name.
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { afterEach, describe, expect, it } from 'vitest';

const inherited = Object.getOwnPropertyNames(Object.prototype);
const json = 'application/json';

interface Sent {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

async function send(sent: Sent, storage: PlantStorage = memoryStorage(), verify = acceptTokens('secret')) {
  const handle = createPlantStore(storage, verify, { onError: () => {} });
  const headers = { authorization: 'Bearer secret', 'content-type': json, ...sent.headers };
  const plant = '{"id":1,"name":"Rosa"}';
  const { status, body } = await handle({ method: 'POST', url: '/plants', body: plant, ...sent, headers });
  return { status, code: JSON.parse(body || '{}').error };
}

const throws = (name: string) => async () => {
  throw Object.assign(new Error('no'), { name });
};

afterEach(() => expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(inherited));

describe.each([...inherited, 'prototype'])('%s', (name) => {
  it.each<[string, Sent, { status: number; code?: number }]>([
    ['a token', { headers: { authorization: `Bearer ${name}` } }, { status: 401, code: 40102 }],
    ['a scheme', { headers: { authorization: name } }, { status: 401, code: 40101 }],
    ['a path', { url: `/${name}` }, { status: 404, code: 40401 }],
    ['a method', { method: name }, { status: 405, code: 40501 }],
    ['a query', { url: `/plants?${name}=1` }, { status: 200 }],
    ['a header', { headers: JSON.parse(`{"${name}":"x"}`) }, { status: 200 }],
    ['a media type', { headers: { 'content-type': name } }, { status: 400, code: 40005 }],
    ['a parameter', { headers: { 'content-type': `${json}; ${name}=x` } }, { status: 200 }],
    ['an encoding', { headers: { 'content-encoding': name } }, { status: 400, code: 40005 }],
    ['a member', { body: `{"id":1,"name":"Rosa","${name}":{"tag":"x"}}` }, { status: 200 }],
    ['two members', { body: `{"id":1,"name":"Rosa","${name}":1,"${name}":2}` }, { status: 200 }],
    ['a name', { body: `{"id":1,"name":"${name}","tag":"${name}"}` }, { status: 200 }],
  ])('as %s is like any other', async (_, sent, expected) => {
    expect(await send(sent)).toEqual(expected);
  });

  it('as the name of an error of a storage or a verifier is like any other', async () => {
    expect(await send({}, { create: throws(name) })).toEqual({ status: 500, code: 50001 });
    expect(await send({}, memoryStorage(), throws(name))).toEqual({ status: 500, code: 50002 });
  });
});
