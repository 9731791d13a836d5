/** Requests that are not quite Node's: stand-ins of tests, and what serverless platforms make of a body. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import express from 'express';
import { createRequest, createResponse } from 'node-mocks-http';
import { pinoHttp } from 'pino-http';
import { acceptTokens, createPlantStore, type NewPlant, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { type KoaContext, toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientOf } from '../../support/client.js';
import { contractCases, contractSetup } from '../../support/contract.js';
import { expectCase } from '../../support/expect-case.js';
import { listen } from '../../support/sockets.js';
import { withIds } from '../../support/titled.js';

const plant = '{"id":9007199254740993,"name":"Rosa canina"}';
const headers = { authorization: 'Bearer good', 'content-type': 'application/json' };

describe('a request without rawHeaders', () => {
  const answered = (request: object, handle: PlantHandler) =>
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

  test.each<[string, object]>([
    ['text', { body: plant }],
    ['bytes', { body: Buffer.from(plant) }],
    [
      'rawBody in bytes',
      { rawBody: Buffer.from(plant), body: { id: 9007199254740992, name: 'Rosa canina' } },
    ],
    ['rawBody in text', { rawBody: plant }],
  ])('with its body as %s creates the exact plant', async (_what, body) => {
    const plants = new Map<bigint, NewPlant>();
    const handle = createPlantStore(memoryStorage(plants), acceptTokens('good'));
    const request = { method: 'POST', url: '/plants', headers, ...body };
    expect(await answered(request, handle)).toEqual({ status: 200, text: '{"name":"Rosa canina"}' });
    expect([...plants.keys()]).toEqual([9007199254740993n]);
  });

  test.each<[string, () => object]>([
    ['a value', () => ({ method: 'POST', url: '/plants', headers, body: { id: 1, name: 'Rosa canina' } })],
    [
      'a stream',
      () => Object.assign(Readable.from([Buffer.from(plant)]), { method: 'POST', url: '/plants', headers }),
    ],
    [
      'a value, of node-mocks-http',
      () => createRequest({ method: 'POST', url: '/plants', headers, body: { id: 1, name: 'Rosa canina' } }),
    ],
  ])('with its body as %s creates', async (_what, request) => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
    expect(await answered(request(), handle)).toMatchObject({ status: 200 });
  });

  test('whose stream fails after its body was rejected crashes no process', async () => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'), { bodyLimit: 10 });
    const request = Object.assign(new PassThrough(), { method: 'POST', url: '/plants', headers });
    request.write(plant);
    const answer = await answered(request, handle);
    expect(JSON.parse(answer.text).error).toBe(40006);
    // Without a listener this throws.
    expect(() => request.emit('error', new Error('late'))).not.toThrow();
  });

  test('whose stream always has another chunk at once is rejected at the limit', async () => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
    let count = 0;
    const endless = new Readable({
      read() {
        // The end is for a reader that never stops.
        this.push(++count < 10_000 ? Buffer.alloc(2 ** 16, ' ') : null);
      },
    });
    const request = Object.assign(endless, { method: 'POST', url: '/plants', headers });
    const answer = await answered(request, handle);
    expect(JSON.parse(answer.text).error).toBe(40006);
    expect(count).toBeLessThan(100);
    endless.destroy();
  });

  test.each([
    [{ authorization: 'Bearer bad' }, 401, 40102],
    [headers, 400, 40001],
  ])('with the headers %o and no body gets %i', async (given, status, error) => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
    const answer = await answered({ method: 'POST', url: '/plants', headers: given }, handle);
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([status, error]);
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

/** What Vercel's runtime for Node does before it calls a function: it reads the body, and puts it back as another stream. */
function onVercel(listener: RequestListener): RequestListener {
  return async (request, response) => {
    const body = await buffer(request);
    const stream = new PassThrough();
    const on = request.on.bind(request);
    const replaced = (name: string, listener: (...args: unknown[]) => void) =>
      name === 'data' || name === 'end' ? stream.on(name, listener) : on(name, listener);
    Object.assign(request, { read: stream.read.bind(stream), on: replaced, addListener: replaced });
    stream.end(body);
    Object.defineProperty(request, 'body', {
      get() {
        if (request.headers['content-type'] !== 'application/json') return undefined;
        return body.length > 0 ? JSON.parse(body.toString()) : {};
      },
    });
    listener(request, response);
  };
}

describe('a body that was put back as a stream', () => {
  const setup = contractSetup();
  const handle = createPlantStore(setup.storage, setup.verifyToken, setup.options);

  test.each(withIds(contractCases))('%s', async (_, contractCase) => {
    const { url, close } = await listen(createServer(onVercel(toNode(handle))));
    onTestFinished(close);
    const client = clientOf(url);
    onTestFinished(() => client.close());
    await expectCase(contractCase, setup, client.send);
  });
});

test.each([
  ['a create', 'good', 200],
  ['a refused request', 'bad', 401],
])('pino-http logs the headers of the response to %s', async (_what, token, status) => {
  const lines: { res: { statusCode: number; headers: object } }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const app = express().disable('x-powered-by').use(pinoHttp({}, destination));
  app.use(toExpress(createPlantStore(memoryStorage(), acceptTokens('good'))));
  const { url, close } = await listen(createServer(app));
  onTestFinished(close);
  const sent = { ...headers, authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/plants`, { method: 'POST', headers: sent, body: plant });
  const text = await response.text();
  await expect.poll(() => lines.length).toBe(1);
  expect(lines[0]?.res).toMatchObject({
    statusCode: status,
    headers: { 'content-type': 'application/json', 'content-length': text.length },
  });
});
