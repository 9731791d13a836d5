import type { JWTPayload } from 'jose';
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createPlant } from '../support/plants.js';
import { type Key, newKey, startIssuer } from './issuer.js';
import { exampleUrl, runExamplesHere } from './recipe.js';

const printed = runExamplesHere({ AUDIENCE: 'plants' });
afterEach(() => vi.clearAllMocks());

let key: Key;
let secondKey: Key;
let otherKey: Key;
beforeAll(async () => {
  [key, secondKey, otherKey] = await Promise.all([newKey('ours'), newKey('next'), newKey('ours')]);
});

const minutes = (count: number) => Math.floor(Date.now() / 1000) + count * 60;

/** Starts an issuer with these keys, and the example that trusts it, until the test ends. */
async function start(...keys: readonly Key[]) {
  const issuer = await startIssuer(...keys);
  process.env.ISSUER = issuer.url;
  // The program reads the keys once, and keeps them.
  vi.resetModules();
  const { server } = await import('../../examples/around/jwt.js');
  const url = await exampleUrl({ server });
  let closed: Promise<void> | undefined;
  const breakDown = () => {
    closed ??= issuer.close();
    return closed;
  };
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await breakDown();
  });
  const claims: JWTPayload = {
    iss: issuer.url,
    aud: 'plants',
    sub: 'alice',
    exp: minutes(5),
    scope: 'openid plants:write',
  };
  return {
    issuer,
    claims,
    breakDown,
    async create(token: string, id = 1) {
      const { status, headers, body } = await createPlant(url, `{"id":${id},"name":"Rosa"}`, token);
      const { error } = body as { error?: number };
      return { status, error, challenge: headers.get('www-authenticate') };
    },
  };
}

const invalid = { status: 401, error: 40102, challenge: 'Bearer realm="plants", error="invalid_token"' };
const outage = { status: 500, error: 50002, challenge: null };

it('a valid JWT creates a plant, and its subject reaches the storage', async () => {
  const { create, claims } = await start(key);
  expect(await create(await key.sign(claims))).toMatchObject({ status: 200 });
  expect(printed.log).toHaveBeenCalledWith('alice: plant 1 created');
});

describe('a JWT without a kid', () => {
  it('creates a plant if either of two keys verifies it', async () => {
    const { create, claims } = await start(key, secondKey);
    for (const [id, { sign }] of [key, secondKey].entries())
      expect(await create(await sign(claims, {}), id)).toMatchObject({ status: 200 });
  });

  it('is a 401 if it is forged, also for an issuer with one key, or if its claims are invalid', async () => {
    for (const keys of [[key], [key, secondKey]]) {
      const { create, claims } = await start(...keys);
      expect(await create(await otherKey.sign(claims, {}))).toEqual(invalid);
      for (const { sign } of keys)
        expect(await create(await sign({ ...claims, exp: minutes(-5) }, {}))).toEqual(invalid);
    }
  });
});

describe('a JWT that creates no plant', () => {
  afterEach(() => expect(printed.log.mock.calls.join()).not.toContain('created'));

  it.each<[string, (claims: JWTPayload) => string | Promise<string>]>([
    ['that expired', (claims) => key.sign({ ...claims, exp: minutes(-5) })],
    ['that never expires', ({ exp: _, ...claims }) => key.sign(claims)],
    ['that is not valid yet', (claims) => key.sign({ ...claims, nbf: minutes(5) })],
    ['for another audience', (claims) => key.sign({ ...claims, aud: 'animals' })],
    ['without an audience', ({ aud: _, ...claims }) => key.sign(claims)],
    ['of another issuer', (claims) => key.sign({ ...claims, iss: 'https://elsewhere.example' })],
    ['without a subject', ({ sub: _, ...claims }) => key.sign(claims)],
    ['signed by another key under the same name', (claims) => otherKey.sign(claims)],
    ['signed by a key that the issuer does not have', (claims) => otherKey.sign(claims, { kid: 'theirs' })],
    [
      'whose payload was changed',
      async (claims) =>
        (await key.sign(claims)).replace(/\.[^.]+\./, `.${encoded({ ...claims, sub: 'mallory' })}.`),
    ],
    ['that says it needs no signature', (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`],
    ['that is not a JWT', () => 'secret'],
  ])('a token %s is a 401', async (_title, tokenFrom) => {
    const { create, claims } = await start(key);
    expect(await create(await tokenFrom(claims))).toEqual(invalid);
  });

  it.each([
    ['another scope', 'plants:read'],
    ['a scope that begins alike', 'plants:write-not'],
    ['no scope', undefined],
  ])('a valid token with %s is a 403 that names the scope', async (_title, scope) => {
    const { create, claims } = await start(key);
    expect(await create(await key.sign({ ...claims, scope }))).toEqual({
      status: 403,
      error: 40301,
      challenge: 'Bearer realm="plants", error="insufficient_scope", scope="plants:write"',
    });
  });
});

describe('an issuer that fails causes a 500, never a 401,', () => {
  it('when nothing listens there', async () => {
    const { create, claims, breakDown } = await start(key);
    await breakDown();
    expect(await create(await key.sign(claims))).toEqual(outage);
  });

  it.each([
    ['an error', { status: 503, body: 'try later' }],
    ['a page', { status: 200, body: '<html>sign in</html>' }],
    ['JSON that is not a key set', { status: 200, body: '{"keys":"none"}' }],
  ])('when it returns %s; the same token is accepted once it works again', async (_title, failure) => {
    const { create, claims, issuer } = await start(key);
    const token = await key.sign(claims);
    issuer.respondWith(failure);
    expect(await create(token)).toEqual(outage);
    issuer.respondWith();
    expect(await create(token)).toMatchObject({ status: 200 });
  });

  it('unless its keys are known already, which it needs once, not for each request', async () => {
    const { create, claims, issuer, breakDown } = await start(key);
    const token = await key.sign(claims);
    expect(await create(token, 1)).toMatchObject({ status: 200 });
    await breakDown();
    expect(await create(token, 2)).toMatchObject({ status: 200 });
    expect(issuer.fetched()).toBe(1);
  });
});

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
