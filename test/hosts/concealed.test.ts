// A request that is logged as a whole shows neither its headers nor its query, nor the host's own request, to whichever of the app's
// functions it comes: verifier, storage, onError and guard.

import { inspect } from 'node:util';
import { createPlantStore, guard, type PlantRequest, type PlantStorage } from 'plant-store';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientOf } from '../support/client.js';
import { named } from '../support/titled.js';
import { oneMountOfEach } from './hosts.js';
import { expectConcealed } from './suite.js';

const body = new TextEncoder().encode('{"id":1,"name":"Rosa"}');
const headers = {
  authorization: 'Bearer hidden',
  cookie: 'session=hidden',
  'x-api-key': 'hidden',
  'content-type': 'application/json',
};

describe.each(named(oneMountOfEach))('on %s', (_, { start, basePath }) => {
  const sent = async (handle: Parameters<typeof start>[0]) => {
    const { url, close } = await start(handle);
    onTestFinished(close);
    const client = clientOf(url);
    onTestFinished(() => client.close());
    const path = '/plants?access_token=hidden';
    return client.send({ method: 'POST', path, headers, body });
  };

  test('a request is logged without credentials by the verifier, the storage and onError', async () => {
    const seen: PlantRequest[] = [];
    // plant-store catches what is thrown where they look.
    const faults: unknown[] = [];
    const look = (logged: { readonly request: PlantRequest }) => {
      const { request } = logged;
      seen.push(request);
      try {
        expectConcealed(request);
        expectConcealed(logged);
        expect(JSON.parse(JSON.stringify(request))).toEqual({
          method: 'POST',
          url: expect.stringMatching(/^(https?:\/\/[^/]+)?(\/\w+)*\/plants$/),
        });
        // By their names all can be read.
        expect([request.method, request.url]).toEqual([
          'POST',
          expect.stringContaining('access_token=hidden'),
        ]);
        expect(request.raw).toBeTypeOf('object');
      } catch (fault) {
        faults.push(fault);
      }
    };
    const storage: PlantStorage = {
      async create(_plant, context) {
        look(context);
        throw new Error('an outage');
      },
    };
    const verifyToken = (_token: string, context: { readonly request: PlantRequest }) => {
      look(context);
      return true;
    };
    const onError = (_error: unknown, request: PlantRequest) => look({ request });
    const { status } = await sent(createPlantStore(storage, verifyToken, { basePath, onError }));
    expect(faults).toEqual([]);
    expect([status, seen.length, new Set(seen).size]).toEqual([500, 3, 1]);
  });

  test('a wrapper that names the members creates; one that copies the request is told to name them', async () => {
    const causes: unknown[] = [];
    const onError = (error: unknown) => void causes.push(error);
    const storage: PlantStorage = { create: async () => 'created' };
    const handle = createPlantStore(storage, () => true, { basePath, onError });
    const named = await sent(({ method, url, headers, body, routed }) =>
      handle({ method, url, headers, body, routed }),
    );
    const copied = await sent((request) => handle({ ...request }));
    expect([named.status, copied.status]).toEqual([200, 500]);
    expect(causes.map(String)).toEqual([expect.stringContaining('name them: const { method, url, headers')]);
  });

  test('a copy, a clone and a Proxy can be read by anybody without an error, and show no credentials', async () => {
    const faults: unknown[] = [];
    const texts: string[] = [];
    const verifyToken = (_token: string, { request }: { readonly request: PlantRequest }) => {
      const copies = [
        Object.create(request),
        Object.create(Object.getPrototypeOf(request)),
        Object.assign(Object.create(Object.getPrototypeOf(request)), request),
        new Proxy(request, { get: (target, key, receiver) => Reflect.get(target, key, receiver) }),
        new Proxy(request, {}),
      ];
      for (const copy of copies) {
        try {
          for (const name in copy) texts.push(String(copy[name]));
          for (let of = copy; of; of = Object.getPrototypeOf(of))
            for (const name of Object.getOwnPropertyNames(of)) texts.push(String(copy[name]));
          texts.push(JSON.stringify(copy), inspect(copy), inspect(copy, { showHidden: true, getters: true }));
        } catch (fault) {
          faults.push(fault);
        }
      }
      return false;
    };
    const handle = createPlantStore({ create: async () => 'created' }, verifyToken, { basePath });
    expect((await sent(handle)).status).toBe(401);
    expect(faults).toEqual([]);
    expect(texts.join()).not.toMatch(/bearer|hidden/i);
  });

  test('a wrapper that passes a Proxy of the request on creates, and refuses', async () => {
    const storage: PlantStorage = { create: async () => 'created' };
    const through = async (isValid: boolean, trap: ProxyHandler<PlantRequest>) => {
      const handle = createPlantStore(storage, () => isValid, { basePath, onError: () => {} });
      return (await sent((request) => handle(new Proxy(request, trap)))).status;
    };
    const reading = { get: (target: PlantRequest, key: string) => Reflect.get(target, key) };
    // Getters of this one run on the Proxy, which has no private members.
    expect([await through(true, reading), await through(false, reading), await through(true, {})]).toEqual([
      200, 401, 500,
    ]);
  });

  test('a request is logged without credentials by a guard', async () => {
    const { status } = await sent(
      guard(
        () => true,
        (request, context) => {
          expectConcealed(request);
          expectConcealed(context);
          return { status: 204, headers: {}, body: '' };
        },
      ),
    );
    expect(status).toBe(204);
  });
});
