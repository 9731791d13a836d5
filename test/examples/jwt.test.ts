import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPlant } from '../support/plants.js';
import { startExample, urlOf } from '../support/program.js';
import { listen } from '../support/sockets.js';

type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
type Claims = Record<string, unknown>;

const minutes = (count: number) => Math.floor(Date.now() / 1000) + count * 60;

let key: Key;
let secondKey: Key;
let otherKey: Key;
let jwks: string;
let twoKeys: string;

beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true });
  key = pair.privateKey;
  otherKey = (await generateKeyPair('ES256')).privateKey;
  const second = await generateKeyPair('ES256', { extractable: true });
  secondKey = second.privateKey;
  jwks = JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'ours', alg: 'ES256' }] });
  const next = { ...(await exportJWK(second.publicKey)), kid: 'next', alg: 'ES256' };
  twoKeys = JSON.stringify({ keys: [...JSON.parse(jwks).keys, next] });
});

/** Starts an issuer, and the example that trusts it. */
async function start() {
  let fetched = 0;
  let answer = { status: 200, body: jwks };
  const server = await listen(
    createServer((_request, response) => {
      fetched++;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    }),
  );
  const program = startExample('jwt', { ISSUER: server.url, AUDIENCE: 'plants' });
  const url = await urlOf(program);
  return {
    program,
    issuer: server.url,
    fetched: () => fetched,
    answerWith(next: typeof answer) {
      answer = next;
    },
    breakDown: server.close,
    async create(token: string, id = 1) {
      const { status, headers, body } = await createPlant(url, `{"id":${id},"name":"Rosa"}`, token);
      const { error } = body as { error?: number };
      return { status, error, challenge: headers.get('www-authenticate') };
    },
    async close() {
      program.child.kill();
      await program.exit;
      if (server.server.listening) await server.close();
    },
  };
}
type Running = Awaited<ReturnType<typeof start>>;

async function startForTest(): Promise<Running> {
  const running = await start();
  onTestFinished(running.close);
  return running;
}

const good = ({ issuer }: Running): Claims => ({
  iss: issuer,
  aud: 'plants',
  sub: 'alice',
  exp: minutes(5),
  scope: 'openid plants:write',
});

function sign(payload: Claims, { by = key, kid = 'ours' as string | null } = {}): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', ...(kid && { kid }) }).sign(by);
}

const invalid = { status: 401, error: 40102, challenge: 'Bearer realm="plants", error="invalid_token"' };
const outage = { status: 500, error: 50002, challenge: null };

it('a JWT that is good creates a plant, and its subject reaches the storage', async () => {
  const running = await startForTest();
  expect(await running.create(await sign(good(running)))).toMatchObject({ status: 200 });
  await running.program.printed(/^alice: plant 1 created$/m);
});

describe('a JWT without a kid, from an issuer with two keys', () => {
  async function startWithTwoKeys(): Promise<Running> {
    const running = await startForTest();
    running.answerWith({ status: 200, body: twoKeys });
    return running;
  }

  it('creates a plant if either key verifies it', async () => {
    const running = await startWithTwoKeys();
    for (const [id, by] of [key, secondKey].entries()) {
      expect(await running.create(await sign(good(running), { by, kid: null }), id)).toMatchObject({
        status: 200,
      });
    }
  });

  it('is a 401 if it is forged, or if its claims are bad', async () => {
    const running = await startWithTwoKeys();
    const forged = await sign(good(running), { by: otherKey, kid: null });
    expect(await running.create(forged)).toEqual(invalid);
    for (const by of [key, secondKey]) {
      const expired = await sign({ ...good(running), exp: minutes(-5) }, { by, kid: null });
      expect(await running.create(expired)).toEqual(invalid);
    }
  });

  it('is a 401 if it is forged and there is one key', async () => {
    const running = await startForTest();
    expect(await running.create(await sign(good(running), { by: otherKey, kid: null }))).toEqual(invalid);
  });
});

describe('a JWT that is not good enough', () => {
  let running: Running;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running.close());
  afterEach(() => expect(running.program.output()).not.toContain('created'));

  it.each<[string, (claims: Claims) => string | Promise<string>]>([
    ['that expired', (claims) => sign({ ...claims, exp: minutes(-5) })],
    ['that never expires', (claims) => sign({ ...claims, exp: undefined })],
    ['that is not valid yet', (claims) => sign({ ...claims, nbf: minutes(5) })],
    ['for another audience', (claims) => sign({ ...claims, aud: 'animals' })],
    ['without an audience', (claims) => sign({ ...claims, aud: undefined })],
    ['of another issuer', (claims) => sign({ ...claims, iss: 'https://elsewhere.example' })],
    ['without a subject', (claims) => sign({ ...claims, sub: undefined })],
    ['signed by another key under the same name', (claims) => sign(claims, { by: otherKey })],
    [
      'signed by a key that the issuer does not have',
      (claims) => sign(claims, { by: otherKey, kid: 'theirs' }),
    ],
    [
      'whose payload was changed',
      async (claims) =>
        (await sign(claims)).replace(/\.[^.]+\./, `.${encoded({ ...claims, sub: 'mallory' })}.`),
    ],
    ['that says it needs no signature', (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`],
    ['that is not a JWT', () => 'secret'],
  ])('a token %s is a 401', async (_title, tokenFrom) => {
    expect(await running.create(await tokenFrom(good(running)))).toEqual(invalid);
  });

  it.each([
    ['another scope', 'plants:read'],
    ['a scope that begins alike', 'plants:write-not'],
    ['no scope', undefined],
  ])('a valid token with %s is a 403 that names the scope', async (_title, scope) => {
    expect(await running.create(await sign({ ...good(running), scope }))).toEqual({
      status: 403,
      error: 40301,
      challenge: 'Bearer realm="plants", error="insufficient_scope", scope="plants:write"',
    });
  });
});

describe('an issuer that fails causes a 500, never a 401,', () => {
  it('when nothing listens there', async () => {
    const running = await startForTest();
    await running.breakDown();
    expect(await running.create(await sign(good(running)))).toEqual(outage);
  });

  it.each([
    ['an error', { status: 503, body: 'try later' }],
    ['a page', { status: 200, body: '<html>sign in</html>' }],
    ['JSON that is not a key set', { status: 200, body: '{"keys":"none"}' }],
  ])(
    'when it returns %s; the same token is accepted once the issuer works again',
    async (_title, failing) => {
      const running = await startForTest();
      const token = await sign(good(running));
      running.answerWith(failing);
      expect(await running.create(token)).toEqual(outage);
      running.answerWith({ status: 200, body: jwks });
      expect(await running.create(token)).toMatchObject({ status: 200 });
    },
  );

  it('unless its keys are known already, which it needs once, not for each request', async () => {
    const running = await startForTest();
    const token = await sign(good(running));
    expect(await running.create(token, 1)).toMatchObject({ status: 200 });
    await running.breakDown();
    expect(await running.create(token, 2)).toMatchObject({ status: 200 });
    expect(running.fetched()).toBe(1);
  });
});

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
