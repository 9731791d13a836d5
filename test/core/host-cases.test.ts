// The published cases: this library passes them all, and a host that breaks a rule fails a case that names the rule.
import { acceptTokens, createPlantStore, errorNumbers } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { type FetchLike, hostCases } from 'plant-store/testing';
import { describe, expect, test, vi } from 'vitest';
import { contractCases } from '../published/host-cases.js';
import { titled } from '../support/titled.js';

function open() {
  const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
  const fetch = toFetch(handle);
  const send: FetchLike = (url, init) => fetch(new Request(url, init));
  return { url: 'http://localhost', token: 'secret', fetch: send };
}

const cases = hostCases(open, { alone: true, strict: true });

test.each(titled(cases, ({ id, name }) => `${id}: ${name}`))('%s', (_, { run }) => run());

test('the cases that need a storage or a verifier of this project are not published', () => {
  const ids = cases.map(({ id }) => id);
  expect(ids).toEqual(contractCases.filter(({ setup }) => !setup).map(({ id }) => id));
  expect(ids.length).toBeGreaterThan(180);
});

test('the cases behind a mount leave other paths and methods to the app', () => {
  const ids = hostCases(open).map(({ id }) => id);
  expect(ids).not.toContain('path-other');
  expect(ids).not.toContain('method-get');
  expect(ids).toContain('create-with-tag');
});

/** Error numbers that no request alone can cause, each with the test that does. */
const withoutCase = {
  body_incomplete: 'a connection that ends or pauses in a body: test/hosts/uploads/',
  internal_error: 'a fault of plant-store or of what an app passes to it: test/core/parties.test.ts',
  body_unreadable: "a body parser of the host's: test/hosts/mounting/",
  timed_out:
    "a storage or a verifier that hangs for as long as the server's timeoutMs: test/core/deadline.test.ts",
};

test('each error number has a case, or a reason why it has none', () => {
  const caused = new Set(contractCases.map(({ expected }) => ('error' in expected ? expected.error : 0)));
  const missing = Object.entries(errorNumbers).filter(([, number]) => !caused.has(number));
  expect(missing.map(([name]) => name)).toEqual(Object.keys(withoutCase));
});

describe('a case', () => {
  type ResponseParts = ConstructorParameters<typeof Response>;
  const runOne = (id: string, host: object, answer: ResponseParts, strict = true) => {
    const sent: [url: string, init: RequestInit][] = [];
    const fetch = async (url: string, init: RequestInit) => {
      sent.push([url, init]);
      return new Response(...answer);
    };
    const open = () => ({ url: 'http://localhost/api', token: 'rose', fetch, ...host });
    const found = hostCases(open, { alone: true, ...(strict && { strict }) }).find((one) => one.id === id)!;
    return { sent, running: found.run() };
  };

  test('reports each fault with the received and the expected value', async () => {
    const headers = { 'content-type': 'text/plain', allow: 'GET', 'retry-after': '1' };
    const { running } = runOne('token-unknown', {}, ['{"error":"40102","more":1}', { status: 400, headers }]);
    await expect(running).rejects.toThrow(
      [
        'token-unknown: status is 400, and must be 401',
        'www-authenticate is null, and must be "Bearer realm=\\"plants\\", error=\\"invalid_token\\""',
        'retry-after is "1", and must be null',
        'allow is "GET", and must be null',
        'content-type is "text/plain", and must be "application/json"',
        'error is "40102", and must be 40102',
        'the type of message is "undefined", and must be "string"',
        'further members of the Error is "more", and must be ""',
      ].join('; '),
    );
  });

  test('reports a response that is not JSON, or has another body', async () => {
    const json = { 'content-type': 'application/json' };
    await expect(runOne('json-empty', {}, ['<h1>', { status: 400, headers: json }]).running).rejects.toThrow(
      'json-empty: error is undefined, and must be 40001; the type of message is "undefined"',
    );
    await expect(runOne('create-with-tag', {}, ['{}', { headers: json }]).running).rejects.toThrow(
      /^create-with-tag: the body is "\{\}", and must be "\{\\"name/,
    );
    await expect(
      runOne('method-head', {}, ['x', { status: 405, headers: { ...json, allow: 'POST' } }]).running,
    ).rejects.toThrow('method-head: the body is "x", and must be ""');
  });

  const json = { 'content-type': ' Application/JSON ; charset=utf-8' };
  const error = '{"message":"no","error":-2147483648,"more":1}';
  const unauthorized = { status: 401, headers: { ...json, 'www-authenticate': 'bearer realm="garden"' } };
  test.each<[id: string, what: string, ...answer: ResponseParts]>([
    [
      'create-with-tag',
      'members in another order',
      '{ "tag": "rose", "name": "Rosa canina" }',
      { headers: json },
    ],
    ['token-unknown', 'another number, and further members', error, unauthorized],
    ['type-text', 'a status of HTTP', error, { status: 415, headers: json }],
    ['size-one-over', 'a status of HTTP', error, { status: 413, headers: json }],
    ['method-get', 'more methods', error, { status: 405, headers: { ...json, allow: 'GET, POST' } }],
    ['method-head', 'no media type', '', { status: 405, headers: { allow: 'POST' } }],
  ])('%s takes from another implementation %s', (id, _, ...answer) => runOne(id, {}, answer, false).running);

  test.each<[id: string, fault: string, ...answer: ResponseParts]>([
    ['create-with-tag', 'the plant is ', '{"tag":"shrub","name":"Rosa"}', { headers: json }],
    [
      'create-with-tag',
      'content-type is "text/json", and ',
      '{"name":"Rosa canina","tag":"rose"}',
      { headers: { 'content-type': 'text/json' } },
    ],
    ['token-unknown', 'status is 403, and must be 401', error, { ...unauthorized, status: 403 }],
    ['token-unknown', 'the scheme of www-authenticate is "", and ', error, { status: 401, headers: json }],
    ['token-unknown', 'error is 2147483648, and ', '{"error":2147483648,"message":"no"}', unauthorized],
    ['token-unknown', 'error is 1.5, and ', '{"error":1.5,"message":"no"}', unauthorized],
    ['token-unknown', 'the type of message is "number", and ', '{"error":1,"message":2}', unauthorized],
    ['type-text', 'status is 413, and must be 400', error, { status: 413, headers: json }],
    ['size-one-over', 'status is 415, and must be 400', error, { status: 415, headers: json }],
    ['json-empty', 'status is 413, and must be 400', error, { status: 413, headers: json }],
    ['method-get', 'whether allow has POST is false, and ', error, { status: 405, headers: json }],
    ['method-head', 'the body is "x", and must be ""', 'x', { status: 405, headers: { allow: 'POST' } }],
  ])('%s reports of another implementation: %s', async (id, fault, ...answer) => {
    await expect(runOne(id, {}, answer, false).running).rejects.toThrow(new RegExp(`^${id}: ${fault}[^;]*$`));
  });

  test('reports that the request before it failed, and sends no other', async () => {
    const { sent, running } = runOne('id-taken', {}, ['busy', { status: 503 }]);
    await expect(running).rejects.toThrow('id-taken: the request before it returned 503 busy');
    expect(sent).toHaveLength(1);
  });

  test("sends with the host's token, by the platform's fetch if there is no other, and a body only if it has one", async () => {
    const stub = vi.fn(async () => new Response('', { status: 405 }));
    vi.stubGlobal('fetch', stub);
    await runOne('method-get', { fetch: undefined }, []).running.catch(() => {});
    vi.unstubAllGlobals();
    expect(stub.mock.calls).toEqual([
      ['http://localhost/api/plants', expect.not.objectContaining({ body: expect.anything() })],
    ]);
    const { sent, running } = runOne('create-with-tag', {}, ['']);
    await running.catch(() => {});
    expect(sent).toEqual([
      [
        'http://localhost/api/plants',
        {
          method: 'POST',
          headers: { authorization: 'Bearer rose', 'content-type': 'application/json' },
          body: expect.any(Uint8Array),
        },
      ],
    ]);
  });

  test('closes the host that it opened, whether it passes or fails', async () => {
    const close = vi.fn();
    const passing = { status: 405, headers: { 'content-type': 'application/json', allow: 'POST' } };
    await runOne('method-get', { close }, ['{"error":40501,"message":"no"}', passing]).running;
    expect(close).toHaveBeenCalledTimes(1);
    await runOne('method-get', { close }, ['']).running.catch(() => {});
    expect(close).toHaveBeenCalledTimes(2);
  });
});
