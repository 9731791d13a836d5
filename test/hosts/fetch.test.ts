/** What toFetch makes of a `Request`, beyond the contract table. */
import { type Context, Hono } from 'hono';
import { cloneRawRequest } from 'hono/request';
import {
  acceptTokens,
  type BodyError,
  createPlantStore,
  guard,
  type NewPlant,
  type PlantStorage,
  type ReadBody,
} from 'plant-store';
import { type FetchRequest, toFetch, toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test, vi } from 'vitest';
import { fakeTimeouts } from '../support/fake-timeouts.js';

const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
const plant = '{"id":1,"name":"Rosa canina"}';
const errors: unknown[] = [];
const mounted = (storage: PlantStorage = memoryStorage()) =>
  toFetch(createPlantStore(storage, acceptTokens('secret'), { onError: (error) => void errors.push(error) }));

const requestOf = (
  body: string | Uint8Array | ReadableStream | null,
  more: Record<string, string> = {},
  Type = Request,
) =>
  new Type('http://localhost/plants', {
    method: 'POST',
    headers: { ...headers, ...more },
    body,
    duplex: 'half',
  } as RequestInit);

const mebibyte = 2 ** 20;
const piece = new Uint8Array(mebibyte).fill(0x20);

/** A body that never ends, and how many bytes of it were asked for. */
function endless(): { stream: ReadableStream<Uint8Array>; taken: () => number } {
  let taken = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      taken += piece.length;
      controller.enqueue(piece);
    },
  });
  return { stream, taken: () => taken };
}

class OwnRequest extends Request {}

test("a request without a signal, as Azure Functions' is, creates, and nothing aborts; the app gets it as raw", async () => {
  const signals: unknown[] = [];
  const raws: unknown[] = [];
  const handle = createPlantStore(memoryStorage(), (token, { signal, request }) => {
    signals.push(signal.aborted, request.signal);
    raws.push(request.raw);
    return token === 'secret';
  });
  const request = Object.defineProperty(requestOf(plant), 'signal', { value: undefined });
  const answer = (await toFetch(handle)(request)) as Response;
  expect([answer.status, answer.statusText, await answer.text()]).toEqual([
    200,
    '',
    '{"name":"Rosa canina"}',
  ]);
  expect(signals).toEqual([false, undefined]);
  expect(raws).toEqual([request]);
});

const bun = { requestIP: () => null };
const deno = { remoteAddr: { hostname: '127.0.0.1' } };
const declared = { 'content-length': '10' };

test.concurrent.each<[string, object, server?: unknown, Type?: typeof Request]>([
  ['of a constructed Request, called by hand, whose declared length is a lie', declared],
  ['of one that Workers or Next passes on', declared, {}],
  ['of one that is passed on without anything', declared, null],
  ['of a subclass of Request, as Next has', declared, {}, OwnRequest],
  ['without a declared length on Bun', {}, bun],
  ['without a declared length on Deno', {}, deno],
])('hazard: a body %s is counted', async (_, more, server, Type) => {
  const { stream, taken } = endless();
  const response = await mounted()(requestOf(stream, { ...more }, Type), server);
  expect(await (response as Response).json()).toMatchObject({ error: 40006 });
  // What was read for the plant, and a stream's buffers, come on top of 16.
  expect(taken() / mebibyte).toBeGreaterThanOrEqual(16);
  expect(taken() / mebibyte).toBeLessThan(24);
});

test.each([
  ['Bun', bun],
  ['Deno', deno],
])('a declared body that comes from the server of %s is read whole, without its stream', async (_, rest) => {
  const request = requestOf(plant, { 'content-length': String(plant.length) });
  Object.defineProperty(request, 'body', { get: () => expect.fail('the stream was asked for') });
  expect(await mounted()(request, rest)).toMatchObject({ status: 200 });
});

test.each([
  ['Bun', bun],
  ['Deno', deno],
])('a guard that reads a body on %s gets no more than its limit', async (_, rest) => {
  const found: unknown[] = [];
  const handle = guard(acceptTokens('secret'), async ({ body }) => {
    const read = body as ReadBody;
    found.push(await Promise.resolve(read(5)).catch((error: BodyError) => error.problem));
    return { status: 204, headers: {}, body: '' };
  });
  await toFetch(handle)(requestOf(plant, { 'content-length': String(plant.length) }), rest);
  expect(found).toEqual(['body_too_large']);
});

/** A body that breaks off after a few bytes. */
const broken = (error = new Error('the client disconnected')) =>
  new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (controller.desiredSize === 1) controller.enqueue(new TextEncoder().encode('{"id":'));
        else controller.error(error);
      },
    },
    { highWaterMark: 2 },
  );

/** What Node's streams end with if their connection closes, and if it is reset. */
const closed = new DOMException('The operation was aborted', 'AbortError');
const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** Of a client that has disconnected. */
const abandoned = (request: Request) =>
  Object.defineProperty(request, 'signal', { value: AbortSignal.abort() });
const longer = { 'content-length': '99' };

test.concurrent.each<[string, FetchRequest, unknown]>([
  ['a Request', abandoned(requestOf(broken())), undefined],
  ['a declared length on Bun', abandoned(requestOf(broken(), longer)), bun],
  ['a Request that ends short of its declared length', abandoned(requestOf(plant, longer)), undefined],
  ['a Request whose connection closes, before its signal aborts', requestOf(broken(closed)), undefined],
  ['a Request whose connection is reset, before its signal aborts', requestOf(broken(reset)), undefined],
  [
    'a request that tells neither whether its body is used nor whether its client has disconnected',
    {
      method: 'POST',
      url: 'http://localhost/plants',
      headers: new Headers(headers),
      body: broken(),
      bodyUsed: false,
      arrayBuffer: () => Promise.reject(new Error('not used')),
    },
    undefined,
  ],
])('a body that its client breaks off is body_incomplete, as in %s', async (_what, request, server) => {
  const response = (await mounted()(request, server)) as Response;
  expect(await response.json()).toMatchObject({ error: 40007 });
});

test.each([
  ['of another path', 'POST', '/trees', 404],
  ['of another method', 'PUT', '/plants', 405],
])('a request %s keeps its body for the app', async (_what, method, path, status) => {
  const request = new Request(`http://localhost${path}`, { method, headers, body: plant });
  expect((await mounted()(request)) as Response).toMatchObject({ status });
  expect(await request.text()).toBe(plant);
});

describe('an upload that', () => {
  const invalid = { authorization: 'Bearer bad' };
  const cancel = vi.fn(() => {
    throw new Error('of the source, harms nobody');
  });

  test.each<[string, number, () => ReadableStream, object]>([
    ['stalls for 500 ms', 40102, () => new ReadableStream({ cancel }), invalid],
    ['was cut by the host', 50003, broken, {}],
  ])(
    '%s, gets a whole response, whose end leaves the client time to read it',
    async (_, error, body, more) => {
      const clock = fakeTimeouts();
      const responding = mounted()(requestOf(body(), { ...more })) as Promise<Response>;
      await clock.pass(600);
      const response = await responding;
      const reader = response.body!.getReader();
      const text = new TextDecoder().decode((await reader.read()).value);
      expect(JSON.parse(text)).toMatchObject({ error });
      expect(response.headers.get('content-length')).toBe(String(text.length));
      const ended = vi.fn();
      const reading = reader.read().then(ended);
      await clock.pass(499);
      expect(ended).not.toHaveBeenCalled();
      await clock.pass(1);
      await reading;
      expect(ended).toHaveBeenCalledWith({ done: true, value: undefined });
      if (error === 40102) expect(cancel).toHaveBeenCalledTimes(1);
    },
  );

  test('is empty, gets a response that ends at once', async () => {
    const response = (await mounted()(requestOf(null, invalid))) as Response;
    expect([response.status, response.headers.get('content-length')]).toEqual([401, null]);
  });
});

test("toFetch reads the request's signal only if the storage reads its own, which then aborts with it", async () => {
  const gone = new AbortController();
  const get = vi.fn(() => gone.signal);
  const request = () => Object.defineProperty(requestOf(plant), 'signal', { get });
  await mounted()(request());
  expect(get).not.toHaveBeenCalled();
  const onAbort = vi.fn();
  const storage: PlantStorage = {
    async create(_plant, { signal }) {
      signal.addEventListener('abort', onAbort);
      gone.abort();
      return 'created';
    },
  };
  await mounted(storage)(request());
  expect(onAbort).toHaveBeenCalledOnce();
});

test.each<[string, string | ReadableStream, object]>([
  ['within the plant', plant.slice(0, -5), longer],
  ['within white space', plant, longer],
  ['before its first byte', '', longer],
  ['by an error, as SvelteKit does above BODY_SIZE_LIMIT', broken(), {}],
])(
  'a body that the host has cut %s is unreadable, which onError is told with the remedy',
  async (_, body, more) => {
    errors.length = 0;
    const response = (await mounted()(requestOf(body, { ...more }))) as Response;
    expect([response.status, await response.json()]).toMatchObject([500, { error: 50003 }]);
    const cause = body instanceof ReadableStream ? new Error('the client disconnected') : undefined;
    const message = expect.stringMatching(/raise that limit/);
    expect(errors).toEqual([expect.objectContaining({ message, cause })]);
  },
);

test.each<[string, (request: Request) => unknown]>([
  ['read', (request) => request.text()],
  ['begun to read', (request) => request.body!.getReader()],
])('a body that somebody has %s is unreadable, also if the request has no signal', async (_how, read) => {
  const request = Object.defineProperty(requestOf(plant), 'signal', { value: undefined });
  await read(request);
  const response = (await mounted()(request)) as Response;
  expect(await response.json()).toMatchObject({ error: 50003 });
});

describe('in Hono, behind a middleware that has read the body', () => {
  test.each<[string, (c: Context) => Promise<unknown>]>([
    ['text', (c) => c.req.text()],
    ['json', (c) => c.req.json()],
    ['arrayBuffer', (c) => c.req.arrayBuffer()],
    ['nothing', async () => {}],
  ])('as %s, the line of adapters/hosts/README.md creates the exact plant', async (_how, read) => {
    const plants = new Map<bigint, NewPlant>();
    const fetch = mounted(memoryStorage(plants));
    const app = new Hono().use(async (c, next) => {
      await read(c);
      await next();
    });
    app.post('/plants', async (c) => fetch(await cloneRawRequest(c.req)));
    const response = await app.request(requestOf('{"id":9007199254740993,"name":"Rosa canina"}'));
    expect(response.status).toBe(200);
    expect([...plants.keys()]).toEqual([9007199254740993n]);
  });
});

describe('toRoute', () => {
  const send = (adapter: typeof toFetch, path: string, method = 'POST', options = {}) => {
    const mount = adapter(createPlantStore(memoryStorage(), () => true, options));
    const request = new Request(`http://localhost${path}`, {
      method,
      headers,
      ...(method === 'POST' && { body: plant }),
    });
    return mount(request, { params: Promise.resolve({}) }) as Promise<Response>;
  };

  const spellings = [
    '/api/plants',
    '/api/plants/',
    '/base/api/plants?x=1',
    '/API/Plants',
    '/api/pl%61nts',
    '/',
  ];
  test.each(spellings)('serves %s, which the router has matched, whatever the basePath', async (path) => {
    for (const basePath of ['', '/api', '/v2']) {
      const response = await send(toRoute, path, 'POST', { basePath });
      expect([response.status, await response.json()]).toEqual([200, { name: 'Rosa canina' }]);
    }
    const alone = await send(toFetch, path, 'POST', { basePath: '/api' });
    expect(alone.status).toBe(path === '/api/plants' ? 200 : 404);
  });

  test.each(['GET', 'PUT', 'OPTIONS', 'HEAD'])('responds 405 with Allow to %s', async (method) => {
    const response = await send(toRoute, '/api/plants', method);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    const text = await response.text();
    if (method === 'HEAD') expect(text).toBe('');
    else expect(JSON.parse(text)).toMatchObject({ error: 40501 });
  });

  test('mounts a guard, which gets the URL as the client sent it', async () => {
    const route = toRoute(
      guard(
        () => 'Ada',
        ({ url, method }) => ({ status: 200, headers: {}, body: `${method} ${url}` }),
      ),
    );
    const response = (await route(new Request('http://localhost/api/plants/7', { headers }))) as Response;
    expect(await response.text()).toBe('GET http://localhost/api/plants/7');
  });

  test.each(['GET', 'HEAD'])(
    'mounts a guard that reads the body of a %s, which a Request never shows',
    async (method) => {
      const read: unknown[] = [];
      const route = toRoute(
        guard(acceptTokens('secret'), async ({ body }) => {
          read.push(await (body as ReadBody)(100));
          return { status: 204, headers: {}, body: '' };
        }),
      );
      await route(
        new Request('http://localhost/api/plants/7', { method, headers: { ...headers, ...longer } }),
      );
      expect(read).toEqual([new Uint8Array()]);
    },
  );
});
