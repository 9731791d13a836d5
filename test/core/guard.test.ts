// `guard`: the same door as POST /plants for the app's other routes.
import {
  acceptTokens,
  type GuardOptions,
  guard,
  InsufficientScope,
  json,
  type PlantRequest,
  type PlantResponse,
  StorageBusy,
  type StorageContext,
} from 'plant-store';
import { describe, expect, test, vi } from 'vitest';
import { deferred } from '../support/deferred.js';
import { fakeTimeouts } from '../support/fake-timeouts.js';

const headers = { 'content-type': 'application/json' };
const request: PlantRequest = {
  method: 'GET',
  url: '/plants/1',
  headers: { authorization: 'Bearer good' },
};
const verifyToken = (token: string) => {
  if (token === 'outage') throw new Error('inside');
  if (token === 'scopeless') throw new InsufficientScope('plants:read');
  return token === 'good' && { tenant: 'a' };
};

type Answer = (request: PlantRequest, context: StorageContext<{ tenant: string }>) => unknown;

function open(answer: Answer, options: GuardOptions = {}) {
  const onError = vi.fn();
  const handle = guard(verifyToken, answer as () => PlantResponse, { onError, ...options });
  return { handle, onError };
}

describe('a guard that gets a valid token', () => {
  const ok = { status: 200, headers, body: '{}' };
  // 599 is the greatest status that HTTP has.
  const greatest = { status: 599, headers, body: '' };
  test.each<[string, PlantResponse, Answer]>([
    ['at once', ok, () => ok],
    ['later', ok, async () => ok],
    ['with a status of 599', greatest, () => greatest],
  ])('returns what the app returns %s', async (_what, response, answer) => {
    expect(await open(answer).handle(request)).toBe(response);
  });

  test('passes the request, the caller and a signal to the app', async () => {
    const answer = vi.fn<Answer>((_request, { signal }) => ({ ...ok, body: String(signal.aborted) }));
    expect(await open(answer).handle(request)).toMatchObject({ body: 'false' });
    const [[given, context]] = answer.mock.calls as [Parameters<Answer>];
    expect(given).toBe(request);
    expect(context).toMatchObject({ caller: { tenant: 'a' }, request });
  });

  test('lets it in on any path and method, because the app mounts it at its route', async () => {
    const { handle } = open(() => ok);
    expect(await handle({ ...request, method: 'DELETE', url: '/anything' })).toBe(ok);
  });

  test("sends the app's own 404 without an error number", async () => {
    const own = { status: 404, headers, body: '{"error":40402,"message":"No such plant."}' };
    const response = await open(() => own).handle(request);
    expect([response, response.error]).toEqual([own, undefined]);
  });
});

test.each([40401, 40501])('a guard drops the error %d, which would pass the request on', async (error) => {
  const own = { status: 404, headers, body: '{}' };
  expect(await open(() => ({ ...own, error })).handle(request)).toEqual(own);
});

describe('a guard, as POST /plants does,', () => {
  const never = vi.fn();
  test.each<[string, PlantRequest['headers'], number, string | undefined]>([
    ['no token', {}, 40101, 'Bearer realm="plants"'],
    ['another scheme', { authorization: 'Basic x' }, 40101, 'Bearer realm="plants"'],
    ['an invalid token', { authorization: 'Bearer bad' }, 40102, 'error="invalid_token"'],
    ['two tokens', { authorization: ['Bearer good', 'Bearer good'] }, 40102, 'error="invalid_token"'],
    [
      'a token without the scope',
      { authorization: 'Bearer scopeless' },
      40301,
      'error="insufficient_scope", scope="plants:read"',
    ],
    ['a token that verifyToken fails to check', { authorization: 'Bearer outage' }, 50002, undefined],
  ])('rejects a request with %s', async (_what, given, error, challenge) => {
    const { handle, onError } = open(never);
    const response = await handle({ ...request, headers: given });
    expect(response).toMatchObject({ status: Math.trunc(error / 100), error });
    expect(JSON.parse(response.body)).toEqual({ error, message: expect.any(String) });
    if (challenge) expect(response.headers['www-authenticate']).toContain(challenge);
    expect(never).not.toHaveBeenCalled();
    expect(onError).toHaveBeenCalledTimes(error >= 50000 ? 1 : 0);
  });
});

describe('behind a guard', () => {
  const failure = new Error('inside');
  const mistake = expect.any(TypeError);
  const fails = (error: unknown) => () => {
    throw error;
  };
  /** Headers that some host or other cannot send. */
  const unsendable = [
    ['a header without a value', { etag: undefined }],
    ['a list as a header', { etag: ['1', '2'] }],
    ['a line break in a header', { etag: '1\r\nx: y' }],
    ['a control character in a header', { etag: '\0' }],
    ['a letter beyond Latin-1 in a header', { etag: 'ж' }],
    ['a name that is no token', { 'a b': '1' }],
  ] as const;
  test.each<readonly [string, Answer, number, unknown]>([
    ['a throw', fails(failure), 50000, failure],
    ['a rejection', () => Promise.reject(failure), 50000, failure],
    ['a busy storage', fails(new StorageBusy()), 50301, expect.objectContaining({ name: 'StorageBusy' })],
    ['a missing scope', fails(new InsufficientScope('plants:read')), 40301, undefined],
    ['no response', () => undefined, 50000, mistake],
    ['a response without a body', () => ({ status: 200, headers }), 50000, mistake],
    ['a response without headers', () => ({ status: 200, body: '' }), 50000, mistake],
    ['a status that is no status', () => ({ status: '200', headers, body: '' }), 50000, mistake],
    ['a Headers object', () => ({ status: 200, headers: new Headers(), body: '' }), 50000, mistake],
    ['a 204 with a body', () => ({ status: 204, headers, body: 'x' }), 50000, mistake],
    ['a 304 with a body', () => ({ status: 304, headers, body: 'x' }), 50000, mistake],
    ['a body of bytes', () => ({ status: 200, headers, body: new Uint8Array() }), 50000, mistake],
    ['a status of 99', () => ({ status: 99, headers, body: '' }), 50000, mistake],
    [
      'a status of 600',
      () => ({ status: 600, headers, body: '' }),
      50000,
      expect.objectContaining({ message: expect.stringContaining('an integer from 200 to 599') }),
    ],
    ['a text as headers', () => ({ status: 200, headers: 'x', body: '' }), 50000, mistake],
    ...unsendable.map(
      ([what, headers]) => [what, () => ({ status: 200, headers, body: '' }), 50000, mistake] as const,
    ),
  ])('%s becomes an Error', async (_what, answer, error, cause) => {
    const { handle, onError } = open(answer);
    const response = await handle(request);
    expect(response).toMatchObject({ status: Math.trunc(error / 100), error });
    expect(response.headers['retry-after']).toBe(error === 50301 ? '1' : undefined);
    expect(response.body).not.toContain('inside');
    expect(onError.mock.calls).toEqual(cause ? [[cause, request, error]] : []);
  });

  test('a response that times out is a 503 that does not mention a plant', async () => {
    const clock = fakeTimeouts();
    const { handle, onError } = open(() => new Promise(() => {}), { timeoutMs: 5 });
    const responding = handle(request);
    await clock.expire();
    const response = await responding;
    expect(JSON.parse(response.body)).toEqual({
      error: 50302,
      message: 'The server timed out. Try again later.',
    });
    expect(String(onError.mock.calls[0]?.[0])).toMatch(
      /timed out after 5 ms waiting for the guarded handler/,
    );
  });

  test('a timeoutMs of 0 is no timeout', async () => {
    const clock = fakeTimeouts();
    const answer = deferred<PlantResponse>();
    const responding = open(() => answer.promise, { timeoutMs: 0 }).handle(request);
    await clock.pass(2 ** 31 - 1);
    answer.resolve({ status: 204, headers: {}, body: '' });
    expect(await responding).toMatchObject({ status: 204 });
  });
});

const noHandler = () => undefined as never;
test.each<[string, () => unknown, string]>([
  [
    'verifyToken',
    () => guard(undefined as never, noHandler),
    'verifyToken must be a function, got undefined; pass a function that returns the caller of a token, or acceptTokens(token)',
  ],
  [
    'answer',
    () => guard(acceptTokens('a'), {} as never),
    'handler must be a function, got an object; pass guard(verifyToken, handler)',
  ],
  [
    'option, as one of createPlantStore,',
    () => guard(acceptTokens('a'), noHandler, { bodyLimit: 1 } as never),
    'unknown option bodyLimit; the options are timeoutMs, onError',
  ],
  [
    'timeoutMs',
    () => guard(acceptTokens('a'), noHandler, { timeoutMs: -1 }),
    'timeoutMs must be an integer from 0 to 2147483647, got -1',
  ],
])('a TypeError is thrown at once for an invalid %s', (_what, make, message) => {
  expect(make).toThrow(new TypeError(message));
});

describe('json', () => {
  test('is a response with its content type and further headers', async () => {
    const { handle } = open(() => json(404, { error: 1404, message: 'No such plant.' }, { vary: 'accept' }));
    expect(await handle(request)).toEqual({
      status: 404,
      headers: { ...headers, vary: 'accept' },
      body: '{"error":1404,"message":"No such plant."}',
    });
  });

  test('refuses a bigint, with what to write', async () => {
    const message = 'id is a bigint, which JSON cannot represent: write String(id)';
    expect(() => json(200, { id: 9007199254740993n })).toThrow(new TypeError(message));
    const { handle, onError } = open(() => json(200, { plants: [{ id: 1n }] }));
    expect(await handle(request)).toMatchObject({ error: 50000 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ message });
  });
});
