/** What toFetch makes of a `Request`, beyond the contract table. */
import { HttpRequest } from '@azure/functions';
import { acceptTokens, createPlantStore, type PlantHandler, type PlantStorage } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { expect, test } from 'vitest';

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

/** A body that never ends, and how many bytes of it were asked for. */
function endless(): { stream: ReadableStream<Uint8Array>; taken: () => number } {
  let taken = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      taken += 2 ** 16;
      controller.enqueue(new Uint8Array(2 ** 16).fill(0x20));
    },
  });
  return { stream, taken: () => taken };
}

class OwnRequest extends Request {}

test("a request without a signal, as Azure Functions' is", async () => {
  const signals: AbortSignal[] = [];
  const handle = createPlantStore(memoryStorage(), (token, { signal, request }) => {
    signals.push(signal, request.signal!);
    return token === 'secret';
  });
  const request = new HttpRequest({
    method: 'POST',
    url: 'http://localhost/plants',
    headers,
    body: { string: plant },
  });
  expect('signal' in request).toBe(false);
  const answer = await toFetch(handle)(request);
  expect([answer.status, await answer.text()]).toEqual([200, '{"name":"Rosa canina"}']);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
});

test.each([
  { what: 'Request', Type: Request },
  { what: 'subclass of Request, as Next has', Type: OwnRequest },
])(
  'hazard: the declared length of a constructed $what may be a lie, so the body is counted',
  async ({ Type }) => {
    const { stream, taken } = endless();
    const response = await mounted()(requestOf(stream, { 'content-length': '10' }, Type));
    expect(await (response as Response).json()).toMatchObject({ error: 40006 });
    expect(taken()).toBeLessThan(2 ** 21);
  },
);

test.each([
  { host: 'Bun', rest: { requestIP: () => null } },
  { host: 'Deno', rest: { remoteAddr: { hostname: '127.0.0.1' } } },
])(
  'a declared body that comes straight from the server of $host is read at once, within the limit',
  async ({ rest }) => {
    const whole = (text: string) => {
      const request = requestOf(text, { 'content-length': String(text.length) });
      Object.defineProperty(request, 'body', {
        get() {
          throw new Error('the stream was asked for');
        },
      });
      return mounted()(request, rest) as Promise<Response>;
    };
    expect((await whole(plant)).status).toBe(200);
    expect(await (await whole(' '.repeat(2 ** 20 + 1))).json()).toMatchObject({ error: 40006 });
  },
);

test('hazard: bytes that are not UTF-8 are refused, not replaced', async () => {
  const bytes = new Uint8Array([...new TextEncoder().encode('{"id":1,"name":"'), 0xff, 0x22, 0x7d]);
  const response = (await mounted()(requestOf(bytes))) as Response;
  expect(await response.json()).toMatchObject({ error: 40001 });
});

test('a body that breaks off is body_incomplete', async () => {
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (controller.desiredSize === 1) controller.enqueue(new TextEncoder().encode('{"id":'));
        else controller.error(new Error('the client went away'));
      },
    },
    { highWaterMark: 2 },
  );
  const response = (await mounted()(requestOf(stream))) as Response;
  expect(await response.json()).toMatchObject({ error: 40007 });
});

test('a request that has no body is body_not_json', async () => {
  const response = (await mounted()(requestOf(null))) as Response;
  expect(await response.json()).toMatchObject({ error: 40001 });
});

test("the request's signal is read only if the storage reads its signal, and fires it", async () => {
  let asked = 0;
  const gone = new AbortController();
  const request = () => {
    const made = requestOf(plant);
    Object.defineProperty(made, 'signal', {
      get() {
        asked++;
        return gone.signal;
      },
    });
    return made;
  };
  await mounted()(request());
  expect(asked).toBe(0);
  const aborted = new Promise<boolean>((resolve) => {
    mounted({
      async create(_plant, { signal }) {
        signal.addEventListener('abort', () => resolve(true));
        gone.abort();
        return 'created';
      },
    })(request());
  });
  expect(await aborted).toBe(true);
});

test('the handler gets the request itself as raw', async () => {
  const seen: unknown[] = [];
  const handle: PlantHandler = async ({ raw }) => {
    seen.push(raw);
    return { status: 200, headers: {}, body: '' };
  };
  const request = requestOf(plant);
  await toFetch(handle)(request);
  expect(seen).toEqual([request]);
});

test.each([200, 404, 429])(
  'an answer of %i without a body has none, and so no Content-Type',
  async (status) => {
    const handle: PlantHandler = async () => ({ status, headers: {}, body: '' });
    const response = (await toFetch(handle)(requestOf(plant))) as Response;
    expect([response.status, response.body, response.headers.get('content-type')]).toEqual([
      status,
      null,
      null,
    ]);
  },
);
