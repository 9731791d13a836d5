// The published cases: this library passes them all, and a host that breaks a rule fails a case that names the rule.
import { acceptTokens, createPlantStore, type NewPlant, type PlantHandler } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { type FetchLike, hostCases } from 'plant-store/testing';
import { describe, expect, test } from 'vitest';
import { contractCases } from '../published/host-cases.js';

/** A host with a fault, which changes a request on its way in or an answer on its way out. */
type Fault = (handle: PlantHandler) => PlantHandler;

function casesOf(fault: Fault = (handle) => handle) {
  const open = () => {
    const store = createPlantStore(memoryStorage(new Map<bigint, NewPlant>()), acceptTokens('secret'));
    const fetch = toFetch(fault(store));
    const send: FetchLike = (url, init) => fetch(new Request(url, init));
    return { url: 'http://localhost', token: 'secret', fetch: send };
  };
  return hostCases(open, { alone: true });
}

async function failing(fault: Fault): Promise<string[]> {
  const failed: string[] = [];
  for (const { id, run } of casesOf(fault)) await run().catch(() => failed.push(id));
  return failed;
}

test.each(casesOf())('$id: $name', ({ run }) => run());

test('the cases that need a storage or a verifier of this project are not published', () => {
  const ids = casesOf().map(({ id }) => id);
  expect(ids).toEqual(contractCases.filter(({ setup }) => !setup).map(({ id }) => id));
  expect(ids.length).toBeGreaterThan(180);
});

test('behind a mount, other paths and methods are left to the app', () => {
  const open = () => ({ url: '', token: '' });
  const ids = hostCases(open).map(({ id }) => id);
  expect(ids).not.toContain('path-other');
  expect(ids).not.toContain('method-get');
  expect(ids).toContain('create-with-tag');
});

describe('a host that breaks a rule fails its case', () => {
  const answered =
    (change: (body: string) => string): Fault =>
    (handle) =>
    async (request) => {
      const response = await handle(request);
      return { ...response, body: change(response.body) };
    };

  test.each<[rule: string, id: string, fault: Fault]>([
    ['the id comes back', 'create-with-tag', answered((body) => body.replace('{"name"', '{"id":1,"name"'))],
    [
      'another member in the Error',
      'json-empty',
      answered((body) => body.replace('{"error"', '{"x":1,"error"')),
    ],
    ['the number as text', 'json-empty', answered((body) => body.replace(/"error":(\d+)/, '"error":"$1"'))],
    [
      'an id is rounded',
      'neighbours-beyond-2-53',
      (handle) => async (request) => {
        const read = request.body as (limit: number) => Promise<Uint8Array>;
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await read(2 ** 21));
        return handle({ ...request, body: text.replace(/9007199254740993/, '9007199254740992') });
      },
    ],
    [
      'no challenge',
      'token-none',
      (handle) => async (request) => {
        const { headers, ...response } = await handle(request);
        return { ...response, headers: { 'content-type': headers['content-type']! } };
      },
    ],
    [
      'any token is taken',
      'token-unknown',
      (handle) => (request) => {
        const headers = new Headers(request.headers as unknown as Headers);
        if (headers.has('authorization')) headers.set('authorization', 'Bearer secret');
        return handle({ ...request, headers });
      },
    ],
    [
      'the media type does not count',
      'type-text',
      (handle) => (request) => {
        const headers = new Headers(request.headers as unknown as Headers);
        headers.set('content-type', 'application/json');
        return handle({ ...request, headers });
      },
    ],
  ])('%s: %s', async (_rule, id, fault) => {
    expect(await failing(fault)).toContain(id);
  });

  test('a case of two requests says so if the first of them was refused', async () => {
    const full: Fault = () => async () => ({ status: 503, headers: {}, body: 'full' });
    const taken = casesOf(full).find(({ id }) => id === 'id-taken');
    await expect(taken?.run()).rejects.toThrow('the request before it was answered 503 full');
  });
});
