/** Requests that are not quite Node's: stand-ins of tests and of serverless platforms. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import express from 'express';
import Fastify from 'fastify';
import Koa from 'koa';
import { createRequest, createResponse } from 'node-mocks-http';
import { acceptTokens, createPlantStore, type NewPlant, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { type KoaContext, toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { describe, expect, test } from 'vitest';
import { listen } from '../../support/sockets.js';

const plant = '{"id":9007199254740993,"name":"Rosa canina"}';
const headers = { authorization: 'Bearer good', 'content-type': 'application/json' };

describe('a request without rawHeaders', () => {
  const store = (options = {}, plants = new Map<bigint, NewPlant>()) =>
    createPlantStore(memoryStorage(plants), acceptTokens('good'), options);
  const answered = (request: object, handle = store()) =>
    new Promise<{ status: number; text: string }>((resolve) => {
      const response = createResponse({ req: createRequest() });
      const end = response.end.bind(response);
      Object.assign(response, {
        end(text: string) {
          end(text);
          resolve({ status: response.statusCode, text });
        },
      });
      toNode(handle)(request as IncomingMessage, response as unknown as ServerResponse);
    });

  const small = { id: 1, name: 'Rosa canina' };
  const rounded = { ...small, id: 9007199254740992 };
  const bytes = Buffer.from(plant);
  const post = { method: 'POST' as const, url: '/plants', headers };
  const exact = 9007199254740993n;
  const putBack = () => {
    const left = [bytes.subarray(0, 9), bytes.subarray(9)];
    const read = () => left.shift() ?? null;
    return { ...post, complete: true, readableDidRead: true, readableEnded: true, read };
  };
  test.each<[string, bigint, object]>([
    ['text', exact, { ...post, body: plant }],
    ['bytes', exact, { ...post, body: bytes }],
    ['rawBody in bytes', exact, { ...post, rawBody: bytes, body: rounded }],
    ['rawBody in text', exact, { ...post, rawBody: plant }],
    ['a stream', exact, Object.assign(Readable.from([bytes]), post)],
    ['what a platform, as Vercel does, has put back into a stream that has ended', exact, putBack()],
    ['a value', 1n, { ...post, body: small }],
    ['a value, of node-mocks-http', 1n, createRequest({ ...post, body: small })],
  ])('with its body as %s creates plant %i', async (_what, id, request) => {
    const plants = new Map<bigint, NewPlant>();
    expect(await answered(request, store({}, plants))).toEqual({
      status: 200,
      text: '{"name":"Rosa canina"}',
    });
    expect([...plants.keys()]).toEqual([id]);
  });

  test('whose stream fails after its body was rejected crashes no process', async () => {
    const request = Object.assign(new PassThrough(), post);
    request.write(plant);
    const answer = await answered(request, store({ bodyLimit: 10 }));
    expect(JSON.parse(answer.text).error).toBe(40006);
    // Without a listener these throw.
    for (const late of ['late', 'again']) expect(() => request.emit('error', new Error(late))).not.toThrow();
  });

  test('whose stream closes before its end, without an error, is body_incomplete', async () => {
    const request = Object.assign(new PassThrough(), post);
    request.write(plant);
    const answering = answered(request);
    // Until the stream is being read.
    await new Promise((resolve) => setImmediate(resolve));
    request.destroy();
    expect(JSON.parse((await answering).text).error).toBe(40007);
  });

  const short = { headers: { ...headers, 'content-length': `${plant.length + 1}` } };
  test.each<[string, before: object, atEnd: object]>([
    ['short of the length that it declares', short, {}],
    ['short of that length before anybody reads it', { ...short, complete: true }, {}],
    ['because its client has disconnected, as one of HTTP/2 may', {}, { aborted: true }],
  ])(
    'whose stream ends %s, although after a whole plant, is body_incomplete',
    async (_how, before, atEnd) => {
      const plants = new Map<bigint, NewPlant>();
      const request = Object.assign(new PassThrough(), post, before);
      request.write(plant);
      const answering = answered(request, store({}, plants));
      // Until the stream is being read.
      await new Promise((resolve) => setImmediate(resolve));
      Object.assign(request, atEnd).end();
      expect(JSON.parse((await answering).text).error).toBe(40007);
      expect(plants.size).toBe(0);
    },
  );

  test('whose stream always has another chunk at once is rejected at the limit', async () => {
    let count = 0;
    const endless = new Readable({
      read() {
        // The end is for a reader that never stops.
        this.push(++count < 10_000 ? Buffer.alloc(2 ** 16, ' ') : null);
      },
    });
    const request = Object.assign(endless, post);
    expect(JSON.parse((await answered(request)).text).error).toBe(40006);
    expect(count).toBeLessThan(100);
    endless.destroy();
  });

  const throwing = {
    get body() {
      throw new Error('Invalid JSON');
    },
  };
  test.each<[string, number, object]>([
    ['has no body and an invalid token', 40102, { headers: { authorization: 'Bearer bad' } }],
    ['has no body', 40001, {}],
    ['has a getter of body that throws, as that of Vercel does for what is not JSON', 40001, throwing],
  ])('that %s returns %i', async (_what, error, members) => {
    const request = Object.defineProperties({ ...post }, Object.getOwnPropertyDescriptors(members));
    expect(JSON.parse((await answered(request)).text).error).toBe(error);
  });
});

test.each<[string, object]>([
  ['without an app', {}],
  ['whose app has no list of middleware', { app: {} }],
])('a Koa context of a test, %s, creates', async (_what, members) => {
  const request = { method: 'POST', url: '/plants', headers };
  const sent: object[] = [];
  const context = {
    req: request,
    res: createResponse({ req: createRequest() }),
    request: { body: plant },
    originalUrl: '/plants',
    headerSent: false,
    set: (given: object) => void sent.push(given),
    ...members,
  };
  const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
  await toKoa(handle)(context as unknown as KoaContext, async () => {});
  expect(context).toMatchObject({ status: 200, body: '{"name":"Rosa canina"}' });
  expect(sent).toEqual([{ 'content-type': 'application/json' }]);
});

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

const inside: Record<string, (handle: PlantHandler) => Listener | Promise<Listener>> = {
  'node:http': (handle) => toNode(handle) as Listener,
  Express: (handle) => express().use(toExpress(handle)),
  Koa: (handle) => new Koa().use(toKoa(handle)).callback(),
  async Fastify(handle) {
    const app = Fastify();
    await app.register(toFastify(handle)).ready();
    return (request, response) => app.server.emit('request', request, response);
  },
};

describe.each(Object.entries(inside))(
  '%s behind somebody who has read the body and left it on the request of Node',
  (_, listenerOf) => {
    const exact = 9007199254740993n;
    test.each<
      [string, plant: string, stored: bigint | number, leave: (request: object, text: string) => object]
    >([
      [
        'rawBody, as functions-framework does',
        plant,
        exact,
        (request, text) => Object.assign(request, { rawBody: Buffer.from(text) }),
      ],
      ['a text', plant, exact, (request, text) => Object.assign(request, { body: text })],
      [
        'a parsed value, as Express does',
        '{"id":1,"name":"Rosa canina"}',
        1n,
        (request, text) => Object.assign(request, { body: JSON.parse(text) }),
      ],
      [
        'a value that has rounded the id',
        plant,
        50003,
        (request, text) => Object.assign(request, { body: JSON.parse(text) }),
      ],
    ])('as %s', async (_what, body, stored, leave) => {
      const plants = new Map<bigint, NewPlant>();
      const onError = () => {};
      const handle = createPlantStore(memoryStorage(plants), acceptTokens('good'), { onError });
      const app = await listenerOf(handle);
      const server = createServer(async (request, response) => {
        leave(request, await text(request));
        app(request, response);
      });
      const { url, close } = await listen(server);
      const response = await fetch(`${url}/plants`, { method: 'POST', headers, body });
      const { error } = (await response.json()) as { error?: number };
      await close();
      expect(error ?? [...plants.keys()][0]).toBe(stored);
    });
  },
);
