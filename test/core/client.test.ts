import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { acceptTokens, createPlantStore, type ErrorNumber, errorNumbers, type NewPlant } from 'plant-store';
import { type ClientFetch, createPlantClient, PlantError } from 'plant-store/client';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../support/sockets.js';

const ilex = { id: 1n, name: 'Ilex' };

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Given = Response | Error;

/** Stands in for a server: gives these responses one after the other. An Error is a connection that is lost. */
function respondWith(...responses: readonly (Given | (() => Given))[]) {
  const left = [...responses];
  return vi.fn(async (url: string, init: Parameters<ClientFetch>[1]) => {
    // As the platform's own does.
    init.signal?.throwIfAborted();
    const given = left.shift();
    const next = typeof given === 'function' ? given() : given;
    if (!next) throw new Error(`nothing is left to respond to ${url}`);
    if (next instanceof Error) throw next;
    return next;
  });
}

const created = () => Response.json({ name: 'Ilex' });
const lost = () => new TypeError('fetch failed');

function failure(error: number, headers: Record<string, string> = {}): Response {
  return Response.json(
    { error, message: 'as the server says' },
    { status: Math.trunc(error / 100), headers },
  );
}

const clientWith = (fetch: ClientFetch, options: object = {}) =>
  createPlantClient('https://example.com', { token: 'secret', fetch, ...options });

/** A 503 with this Retry-After. */
const busy = (retryAfter: string) => () => failure(50301, { 'retry-after': retryAfter });

/** What a create settles with, without any wait. */
async function settled(creating: Promise<unknown>): Promise<unknown> {
  return (await Promise.all([creating.catch((error: unknown) => error), vi.runAllTimersAsync()]))[0];
}

/** The error that a create rejects with, without any wait. */
async function failed(fetch: ClientFetch, options: object = {}): Promise<PlantError> {
  vi.useFakeTimers();
  const error = await settled(clientWith(fetch, options).create(ilex));
  expect(error).toBeInstanceOf(PlantError);
  return error as PlantError;
}

describe('the client', () => {
  async function serve(plants = new Map<bigint, NewPlant>()) {
    const handle = createPlantStore(memoryStorage(plants), acceptTokens('secret'), { basePath: '/api' });
    const server = await listen(createServer(toNode(handle)));
    onTestFinished(server.close);
    return { url: `${server.url}/api`, plants };
  }

  it('sends every id exactly, and resolves to the plant', async () => {
    const { url, plants } = await serve();
    const client = createPlantClient(url, { token: 'secret' });
    const ids = [9_007_199_254_740_992n, 9_007_199_254_740_993n, -(2n ** 63n), 2n ** 63n - 1n, 0n, 7, -7, -0];
    await Promise.all(
      ids.slice(0, -1).map(async (id) =>
        expect(await client.create({ id, name: `L'"\\ ${id} $& 0`, tag: '0' })).toEqual({
          name: `L'"\\ ${id} $& 0`,
          tag: '0',
        }),
      ),
    );
    expect([...plants.keys()]).toEqual(ids.slice(0, -1).map((id) => BigInt(id)));
    await expect(client.create({ id: -0, name: 'zero' })).rejects.toMatchObject({ problem: 'id_taken' });
  });

  it.each(['', '/', '//'])('accepts a base URL that ends with "%s", as a string or as a URL', async (end) => {
    const { url } = await serve();
    expect(await createPlantClient(url + end, { token: 'secret' }).create(ilex)).toEqual({ name: 'Ilex' });
    const client = createPlantClient(new URL(url + end), { token: 'secret' });
    await expect(client.create(ilex)).rejects.toMatchObject({ error: errorNumbers.id_taken });
  });

  it.each(['', '/', '/api', './api'])(
    'accepts the path "%s" on a page, and for a fetch of its own',
    async (path) => {
      const fetch = respondWith(created(), created());
      const end = path === '/' ? '' : path;
      await createPlantClient(path, { token: 'secret', fetch }).create(ilex);
      expect(() => createPlantClient(path, { token: 'secret' })).toThrow(TypeError);
      vi.stubGlobal('location', new URL('https://example.com/garden'));
      vi.stubGlobal('fetch', fetch);
      onTestFinished(() => void vi.unstubAllGlobals());
      await createPlantClient(path, { token: 'secret' }).create(ilex);
      expect(fetch.mock.calls.map(([url]) => url)).toEqual([`${end}/plants`, `${end}/plants`]);
    },
  );

  it.each([
    ...['//evil.example/x', '/\\evil.example', '///evil.example', '/\t/evil.example', '\\\\evil.example'],
    ...['http:evil.example', 'javascript://evil.example', ''],
  ])('on a page, throws on %j, which could lead to another server, and shows nothing of it', (baseUrl) => {
    vi.stubGlobal(
      'location',
      new URL(baseUrl === '' ? 'about:blank' : 'https://app.example//evil.example/x'),
    );
    onTestFinished(() => void vi.unstubAllGlobals());
    const create = () => createPlantClient(baseUrl, { token: 'secret' });
    expect(create).toThrow(/^baseUrl must begin with/);
    expect(create).not.toThrow(/evil/);
  });

  it.each([
    'https://ann:hidden@example.com/api',
    'https://hidden@example.com',
    'https://example.com?key=hidden',
    '/api#hidden',
  ])('throws on %s, and does not show it', (baseUrl) => {
    const create = () => createPlantClient(baseUrl, { token: 'secret', fetch: respondWith() });
    expect(create).toThrow(/^baseUrl must have neither a user, nor a query, nor a fragment/);
    expect(create).not.toThrow(/hidden/);
  });

  it('sends id, name and tag only', async () => {
    const fetch = respondWith(created());
    const plant = { ...ilex, tag: 'holly', colour: 'red', weight: 1n, toJSON: () => 'x' };
    await clientWith(fetch).create(plant);
    const [[, { body }]] = fetch.mock.calls as [Parameters<ClientFetch>];
    expect(JSON.parse(body)).toEqual({ id: 1, name: 'Ilex', tag: 'holly' });
  });

  it.each([2 ** 53, -(2 ** 53), 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1', undefined, null])(
    'throws on the id %s before anything is sent',
    async (id) => {
      const fetch = respondWith(created());
      await expect(clientWith(fetch).create({ ...ilex, id: id as number })).rejects.toThrow(
        new TypeError(`id must be a bigint or a safe integer, got ${id === '1' ? '"1"' : id}`),
      );
      expect(fetch).not.toHaveBeenCalled();
    },
  );

  it.each([
    [{ retries: Number.NaN }, 'retries must be an integer from 0 to 2147483647, got NaN'],
    [{ retries: -1 }, 'retries must be an integer from 0 to 2147483647, got -1'],
    [{ retry: 0 }, 'unknown option retry; the options are token, fetch, retries, acceptReplays'],
    [
      { acceptReplay: true },
      'unknown option acceptReplay; the options are token, fetch, retries, acceptReplays',
    ],
    [{ acceptReplays: 'yes' }, 'acceptReplays must be true or false, got "yes"'],
  ])('throws on the options %j, with those that it takes or the value that it got', (options, message) => {
    expect(() => createPlantClient('https://x.example', { token: 'secret', ...options } as never)).toThrow(
      new TypeError(message),
    );
  });

  it.each(['ключ', 'two\nlines', 'two words', '', undefined as never])(
    'throws on the token %j, which no header can carry',
    async (text) => {
      const fetch = respondWith(created());
      const token = vi.fn(() => text);
      await expect(clientWith(fetch, { token, acceptReplays: true }).create(ilex)).rejects.toThrow(TypeError);
      expect([token.mock.calls.length, fetch.mock.calls.length]).toEqual([1, 0]);
    },
  );

  it('calls a token function before each attempt', async () => {
    vi.useFakeTimers();
    const tokens = ['first', 'second'];
    const fetch = respondWith(busy('1'), created());
    const client = clientWith(fetch, { token: async () => tokens.shift()! });
    expect(await settled(client.create(ilex))).toEqual({ name: 'Ilex' });
    const sent = fetch.mock.calls.map(([url, { headers, ...init }]) => [
      url,
      init,
      [...(headers as Headers)],
    ]);
    const init = { method: 'POST', body: '{"id":1,"name":"Ilex"}' };
    expect(sent).toMatchObject(
      ['first', 'second'].map((token) => {
        const headers = [
          ['authorization', `Bearer ${token}`],
          ['content-type', 'application/json'],
        ];
        return ['https://example.com/plants', init, headers];
      }),
    );
  });
});

describe('the error of the client', () => {
  const open: readonly number[] = [
    errorNumbers.internal_error,
    errorNumbers.storage_failed,
    errorNumbers.timed_out,
  ];

  it.each(Object.entries(errorNumbers))(
    'has the name of %s (%i), and whether the plant may be stored',
    async (problem, error) => {
      const thrown = await failed(respondWith(failure(error)));
      expect(thrown).toMatchObject({
        name: 'PlantError',
        message: 'as the server says',
        status: Math.trunc(error / 100),
        error,
        problem,
        stored: open.includes(error) ? 'unknown' : 'no',
        retryAfterMs: undefined,
      });
    },
  );

  const taken = { error: 40003, message: 'taken' };
  it.each<[string, number, Response, PlantError['stored']]>([
    ['a page of a proxy', 502, new Response('<h1>Bad Gateway</h1>', { status: 502 }), 'unknown'],
    ['an Error of another server', 404, Response.json({ error: 'no', message: 7 }, { status: 404 }), 'no'],
    ['a number that this version does not know', 499, failure(49999), 'no'],
    ['a number next to a known one', 400, failure(40000), 'no'],
    ['a known number with another status', 500, Response.json(taken, { status: 500 }), 'unknown'],
    ['a page with status 200', 200, new Response('<h1>Sign in</h1>'), 'unknown'],
    ['a plant with another status', 202, Response.json({ name: 'Ilex' }, { status: 202 }), 'unknown'],
    ['JSON null', 200, new Response('null'), 'unknown'],
    ['a redirect to nowhere', 307, new Response(null, { status: 307 }), 'no'],
    ['a choice', 300, new Response(null, { status: 300 }), 'no'],
  ])('has no error code after %s, and the status %i', async (_, status, response, stored) => {
    expect(await failed(respondWith(response))).toMatchObject({
      message: `HTTP ${status} from https://example.com/plants, which is not plant-store: the base URL is the part before /plants`,
      status,
      error: undefined,
      problem: undefined,
      stored,
      // A page is not JSON, which is not news.
      cause: undefined,
    });
  });

  it('says where a redirect leads, such as the one of Next with trailingSlash', async () => {
    const response = new Response(null, { status: 308, headers: { location: '/plants/' } });
    expect(await failed(respondWith(response))).toMatchObject({
      message:
        'HTTP 308 from https://example.com/plants, which redirects to /plants/: the client follows no redirect, because its target would get the token',
      status: 308,
      stored: 'no',
    });
  });

  it('has status 0 and the cause after a dropped connection', async () => {
    const cause = lost();
    expect(await failed(respondWith(cause))).toMatchObject({
      message: 'no response from https://example.com/plants',
      status: 0,
      stored: 'unknown',
      cause,
    });
    const cut = new Response(new ReadableStream({ start: (controller) => controller.error(cause) }));
    expect(await failed(respondWith(cut))).toMatchObject({ status: 0, stored: 'unknown', cause });
  });
});

describe('the client', () => {
  const replays = { acceptReplays: true };
  const failing = () => failure(50001, { 'retry-after': '1' });
  it.each<[string, object, readonly (() => Given)[], number]>([
    ['retries a 503 with a Retry-After', {}, [busy('1'), created], 2],
    ['retries as often as the option retries says', { retries: 1 }, [busy('0'), busy('0'), created], 2],
    ['retries three times by default', {}, Array(5).fill(busy('1')), 4],
    ['does not retry a 503 without a Retry-After', {}, [() => failure(50302), created], 1],
    ['retries a 503 that asks for a minute', {}, [busy('60'), created], 2],
    ['does not retry a 503 that asks for over a minute', {}, [busy('61'), created], 1],
    ['retries no other status, even with a Retry-After', {}, [failing, created], 1],
    ['does not retry a 400', {}, [() => failure(40003), created], 1],
    ['does not retry if retries is 0', { retries: 0 }, [busy('1'), created], 1],
    ['does not retry after a dropped connection', {}, [lost, created], 1],
    ['retries after one if the server accepts replays', replays, [lost, lost, created], 3],
    ['retries no other failure even if the server accepts replays', replays, [failing, created], 1],
  ])('%s', async (_, options, responses, attempts) => {
    vi.useFakeTimers();
    const fetch = respondWith(...responses);
    const isCreated = responses[attempts - 1] === created;
    const outcome = await settled(clientWith(fetch, options).create(ilex));
    expect(fetch).toHaveBeenCalledTimes(attempts);
    if (isCreated) expect(outcome).toEqual({ name: 'Ilex' });
    else expect(outcome).toBeInstanceOf(PlantError);
  });

  it.each([
    ['2', 0, [2_000]],
    ['2', 0.5, [2_500]],
    ['0', 0.999, [999, 1_998, 3_996]],
    [new Date('2026-01-01T00:00:10Z').toUTCString(), 0, [10_000]],
    [new Date('2025-01-01T00:00:00Z').toUTCString(), 0.5, [500]],
  ])(
    'waits for Retry-After: %s and a random part (%f) of a second, which doubles with each attempt: %j',
    async (after, random, waits) => {
      vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z') });
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const fetch = respondWith(...waits.map(() => busy(after)), created);
      const creating = clientWith(fetch).create(ilex);
      for (const [i, ms] of waits.entries()) {
        await vi.advanceTimersByTimeAsync(ms - 1);
        expect(fetch).toHaveBeenCalledTimes(i + 1);
        await vi.advanceTimersByTimeAsync(1);
        expect(fetch).toHaveBeenCalledTimes(i + 2);
      }
      expect(await creating).toEqual({ name: 'Ilex' });
    },
  );

  it('reports the time after which another attempt is safe', async () => {
    expect(await failed(respondWith(busy('90')))).toMatchObject({ retryAfterMs: 90_000 });
    expect(await failed(respondWith(busy('0')), { retries: 0 })).toMatchObject({ retryAfterMs: 0 });
  });

  it('keeps an outcome unknown that one attempt left unknown', async () => {
    const fetch = respondWith(lost(), failure(40102));
    expect(await failed(fetch, replays)).toMatchObject({ error: 40102, stored: 'unknown' });
    const settling = respondWith(busy('1'), failure(40102));
    expect(await failed(settling)).toMatchObject({ error: 40102, stored: 'no' });
  });

  const outage = new Error('no token today');
  const onlyOnce = () => {
    const tokens = ['first'];
    return async () => tokens.shift() ?? Promise.reject(outage);
  };
  it.each<[string, () => Given, object]>([
    ['a lost response', lost, { status: 0, stored: 'unknown' }],
    ['a timeout', () => failure(50302, { 'retry-after': '1' }), { error: 50302, stored: 'unknown' }],
  ])('keeps the outcome of %s unknown if the next token cannot be had', async (_, first, expected) => {
    const error = await failed(respondWith(first()), { token: onlyOnce(), ...replays });
    expect(error).toMatchObject({ ...expected, cause: outage });
  });

  it('throws the error of the token alone if nothing was stored before', async () => {
    vi.useFakeTimers();
    const client = clientWith(respondWith(busy('1')), { token: onlyOnce() });
    expect(await settled(client.create(ilex))).toBe(outage);
  });
});

describe('a response longer than any of this API', () => {
  it.each<[status: number, stored: PlantError['stored']]>([
    [200, 'unknown'],
    [400, 'no'],
    [500, 'unknown'],
  ])('is cut off, and its status %i means that the plant was stored: %s', async (status, stored) => {
    let isCutOff: unknown;
    const server = await listen(
      createServer((_request, response) => {
        isCutOff = once(response, 'close');
        // Compressed, zeros take a thousandth.
        const gzip = createGzip();
        response.writeHead(status, { 'content-encoding': 'gzip' });
        Readable.from(endless()).pipe(gzip).pipe(response);
      }),
    );
    onTestFinished(server.close);
    const creating = createPlantClient(server.url, { token: 'secret' }).create(ilex);
    await expect(creating).rejects.toMatchObject({ status, stored, problem: undefined });
    await isCutOff;
  });

  function* endless() {
    for (;;) yield Buffer.alloc(65_536);
  }

  it('is read whole if the plant itself is as long', async () => {
    const long = { id: 1n, name: '\u0001'.repeat(100_000) };
    const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
    const server = await listen(createServer(toNode(handle)));
    onTestFinished(server.close);
    const client = createPlantClient(server.url, { token: 'secret' });
    expect(await client.create(long)).toEqual({ name: long.name });
  });
});

it('a response is the same text if its bytes come one by one', async () => {
  const plant = { name: 'Ж \u{1fab4}' };
  const bytes = [...new TextEncoder().encode(JSON.stringify(plant))].map((byte) => Uint8Array.of(byte));
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(byte);
      controller.close();
    },
  });
  const fetch = async () => new Response(body);
  const client = createPlantClient('https://example.com', { token: 'secret', fetch });
  expect(await client.create({ id: 1n, ...plant })).toEqual(plant);
});

it.each<[unknown, string]>([
  [['a', 'b'], 'HTTP 400 from https://example.com/plants'],
  [undefined, 'HTTP 400 from https://example.com/plants'],
  ['a\u001b[31m\nb\u202e', 'a [31m b '],
])('the message %j becomes a text without control characters', async (message, text) => {
  const error = await failed(respondWith(Response.json({ error: 40003, message }, { status: 400 })));
  expect(error).toMatchObject({ message: text, problem: 'id_taken', stored: 'no' });
});

it('a redirect is not followed: its target would get the token', async () => {
  const requests = vi.fn();
  const other = await listen(createServer(requests));
  const head = { location: `${other.url}/plants` };
  const server = await listen(createServer((_request, response) => response.writeHead(307, head).end()));
  for (const { close } of [server, other]) onTestFinished(close);
  const creating = createPlantClient(server.url, { token: 'secret' }).create(ilex);
  await expect(creating).rejects.toMatchObject({ status: 307, stored: 'no' });
  expect(requests).not.toHaveBeenCalled();
});

describe('a signal', () => {
  const reason = new Error('no longer wanted');

  it.each([
    ['that aborted asks for no token', 0],
    ['that aborts while the token is fetched asks for no other', 1],
  ])('%s, and sends nothing', async (_, count) => {
    const controller = new AbortController();
    const requests = vi.fn();
    const server = await listen(createServer(requests));
    onTestFinished(server.close);
    const token = vi.fn(async () => {
      controller.abort(reason);
      return 'secret';
    });
    if (count === 0) controller.abort(reason);
    const client = createPlantClient(server.url, { token });
    await expect(client.create(ilex, { signal: controller.signal })).rejects.toBe(reason);
    expect([token.mock.calls.length, requests.mock.calls.length]).toEqual([count, 0]);
  });

  it.each([
    ['an outcome that is unknown', lost],
    ['a Retry-After', busy('30')],
  ])('that aborts in the wait after %s ends it, and asks for no further token', async (_, first) => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const token = vi.fn(() => 'secret');
    const fetch = respondWith(first(), created());
    const client = clientWith(fetch, { token, acceptReplays: true });
    const creating = client.create(ilex, { signal: controller.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(0);
    const timers = vi.getTimerCount();
    controller.abort(reason);
    expect(await creating).toBe(reason);
    expect([token.mock.calls.length, fetch.mock.calls.length]).toEqual([1, 1]);
    // A process would otherwise live on for the wait.
    expect(vi.getTimerCount()).toBe(timers - 1);
  });

  // A signal of a day would otherwise collect listeners.
  it('has no listener of the client once a create with a wait is done', async () => {
    vi.useFakeTimers();
    const { signal } = new AbortController();
    const client = clientWith(respondWith(lost(), busy('1'), created()), { acceptReplays: true });
    expect(await settled(client.create(ilex, { signal }))).toEqual({ name: 'Ilex' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  const never = new Promise<never>(() => {});
  const headers = new Headers();
  const bodyThatStalls = () => new Response(new ReadableStream({ pull: () => never }));
  it.each<[string, { token?: () => Promise<string>; fetch?: ClientFetch }]>([
    ['a token', { token: () => never }],
    ['a fetch that ignores it', { fetch: () => never }],
    ['a body', { fetch: async () => bodyThatStalls() }],
    ['a body of another kind', { fetch: async () => ({ status: 200, headers, text: () => never }) }],
  ])('ends the wait for %s with its reason, also if it times out', async (_, options) => {
    const client = createPlantClient('https://example.com', { token: 'secret', ...options });
    const controller = new AbortController();
    const creating = client.create(ilex, { signal: controller.signal });
    controller.abort(reason);
    await expect(creating).rejects.toBe(reason);
    const timedOut = client.create(ilex, { signal: AbortSignal.timeout(1) });
    await expect(timedOut).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('that aborts while a response is read leaves no wait before its reason', async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const { status, headers } = busy('30')();
    const text = async () => {
      controller.abort(reason);
      return '{}';
    };
    const rejected = vi.fn();
    clientWith(async () => ({ status, headers, text }))
      .create(ilex, { signal: controller.signal })
      .catch(rejected);
    await vi.advanceTimersByTimeAsync(1);
    expect(rejected.mock.calls).toEqual([[reason]]);
  });
});

/** As React Native's and older jsdoms' have it: neither `throwIfAborted` nor `reason`, and no class of the platform's. */
function foreignSignal() {
  const target = new EventTarget();
  const signal = Object.assign(target, { aborted: false });
  return {
    signal: signal as unknown as AbortSignal,
    abort() {
      signal.aborted = true;
      target.dispatchEvent(new Event('abort'));
    },
  };
}

describe("a signal that is not the platform's", () => {
  it('lets a create pass', async () => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
    const { url, close } = await listen(createServer(toNode(handle)));
    onTestFinished(close);
    const client = createPlantClient(url, { token: 'secret' });
    expect(await client.create(ilex, { signal: foreignSignal().signal })).toEqual({ name: 'Ilex' });
  });

  it('is passed to a fetch of the app, which may know it', async () => {
    const fetch = vi.fn<ClientFetch>(async () => created());
    const { signal } = foreignSignal();
    await clientWith(fetch).create(ilex, { signal });
    expect(fetch.mock.calls[0]?.[1].signal).toBe(signal);
  });

  it.each(['before', 'while'])(
    'ends a create with an AbortError that it aborts %s it waits',
    async (when) => {
      const fetch = vi.fn<ClientFetch>(() => new Promise(() => {}));
      const { signal, abort } = foreignSignal();
      if (when === 'before') abort();
      const creating = clientWith(fetch).create(ilex, { signal });
      abort();
      await expect(creating).rejects.toMatchObject({ name: 'AbortError' });
      expect(fetch).toHaveBeenCalledTimes(when === 'before' ? 0 : 1);
    },
  );
});

describe('what JavaScript lets through', () => {
  it.each<[string, unknown]>([
    ['no name', { id: 1n }],
    ['a name that is null', { id: 1n, name: null }],
    ['a tag that is a number', { id: 1n, name: 'Ilex', tag: 5 }],
    ['a tag that is null', { id: 1n, name: 'Ilex', tag: null }],
  ])('a plant with %s is not sent', async (_, plant) => {
    const fetch = vi.fn<ClientFetch>();
    await expect(clientWith(fetch).create(plant as never)).rejects.toThrow(/^name must be a string, and tag/);
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each([{ name: 'Ilex', tag: 5 }, { name: 'Ilex', tag: null }, { tag: 'x' }])(
    'a 200 with %o is no plant: whether one was stored is unknown',
    async (plant) => {
      expect(await failed(respondWith(Response.json(plant)))).toMatchObject({
        status: 200,
        stored: 'unknown',
      });
    },
  );
});

it('errorNumbers has a type for each name', () => {
  const taken: 40003 = errorNumbers.id_taken;
  const numbers: ErrorNumber[] = Object.values(errorNumbers);
  expect([taken, numbers.length]).toEqual([40003, new Set(numbers).size]);
});
