import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Program, startExample } from '../support/program.js';
import { listen } from '../support/sockets.js';

type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
type Claims = Record<string, unknown>;

const minutes = (count: number) => Math.floor(Date.now() / 1000) + count * 60;

let key: Key;
let otherKey: Key;
let jwks: string;
let issuer: Awaited<ReturnType<typeof listen>>;
let issuerUrl: string;
let answer: { status: number; body: string };
let fetched: number;
let program: Program;
let url: string;

beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true });
  key = pair.privateKey;
  otherKey = (await generateKeyPair('ES256')).privateKey;
  jwks = JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'ours', alg: 'ES256' }] });
});

beforeEach(async () => {
  answer = { status: 200, body: jwks };
  fetched = 0;
  issuer = await listen(
    createServer((_request, response) => {
      fetched++;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    }),
  );
  issuerUrl = `http://127.0.0.1:${issuer.port}`;
  program = startExample('jwt', { ISSUER: issuerUrl, AUDIENCE: 'plants' });
  url = (await program.printed(/listening on (http:\S+)/))[1] as string;
});

afterEach(() => {
  program.child.kill();
  return issuer.close();
});

const good = (): Claims => ({
  iss: issuerUrl,
  aud: 'plants',
  sub: 'alice',
  exp: minutes(5),
  scope: 'openid plants:write',
});

function sign(payload: Claims, { by = key, kid = 'ours' } = {}): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid }).sign(by);
}

async function create(
  token: string,
  id = 1,
): Promise<{ status: number; error?: number; challenge: string | null }> {
  const response = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id, name: 'Rosa' }),
  });
  const { error } = (await response.json()) as { error: number };
  return { status: response.status, error, challenge: response.headers.get('www-authenticate') };
}

const invalid = { status: 401, error: 40102, challenge: 'Bearer realm="plants", error="invalid_token"' };
const outage = { status: 500, error: 50002, challenge: null };

describe("a JWT, against the issuer's keys", () => {
  it('that is good creates a plant, and its subject reaches the storage', async () => {
    expect(await create(await sign(good()))).toMatchObject({ status: 200 });
    await program.printed(/^alice: plant 1 created$/m);
  });

  it('needs the keys once, not for each request', async () => {
    const token = await sign(good());
    for (const id of [1, 2, 3]) expect(await create(token, id)).toMatchObject({ status: 200 });
    expect(fetched).toBe(1);
  });

  it.each<[string, () => Promise<string>]>([
    ['that expired', () => sign({ ...good(), exp: minutes(-5) })],
    ['that never expires', () => sign({ ...good(), exp: undefined })],
    ['that is not valid yet', () => sign({ ...good(), nbf: minutes(5) })],
    ['for another audience', () => sign({ ...good(), aud: 'animals' })],
    ['for no audience', () => sign({ ...good(), aud: undefined })],
    ['of another issuer', () => sign({ ...good(), iss: 'https://elsewhere.example' })],
    ['without a subject', () => sign({ ...good(), sub: undefined })],
    ['signed by another key under the same name', () => sign(good(), { by: otherKey })],
    ['signed by a key that the issuer does not have', () => sign(good(), { by: otherKey, kid: 'theirs' })],
    [
      'whose payload was changed',
      async () => (await sign(good())).replace(/\.[^.]+\./, `.${encoded({ ...good(), sub: 'mallory' })}.`),
    ],
    ['that says it needs no signature', async () => `${encoded({ alg: 'none' })}.${encoded(good())}.`],
    ['that is no JWT', async () => 'secret'],
  ])('%s is turned down', async (_title, token) => {
    expect(await create(await token())).toEqual(invalid);
    expect(program.output()).not.toContain('plant 1');
  });

  it.each([
    ['another scope', 'plants:read'],
    ['a scope that begins alike', 'plants:write-not'],
    ['none', undefined],
  ])('that is good but has %s is a 403 that names the scope', async (_title, scope) => {
    expect(await create(await sign({ ...good(), scope }))).toEqual({
      status: 403,
      error: 40301,
      challenge: 'Bearer realm="plants", error="insufficient_scope", scope="plants:write"',
    });
  });
});

describe('an issuer that fails is a 500, never a 401', () => {
  it('when nothing listens there', async () => {
    const token = await sign(good());
    await issuer.close();
    expect(await create(token)).toEqual(outage);
  });

  it.each([
    ['an error', { status: 503, body: 'try later' }],
    ['a page', { status: 200, body: '<html>sign in</html>' }],
    ['JSON that is no key set', { status: 200, body: '{"keys":"none"}' }],
  ])('when it answers %s, and the same token is good once it is back', async (_title, failing) => {
    const token = await sign(good());
    answer = failing;
    expect(await create(token)).toEqual(outage);
    answer = { status: 200, body: jwks };
    expect(await create(token)).toMatchObject({ status: 200 });
  });

  it('but keys that are there already go on serving', async () => {
    expect(await create(await sign(good()), 1)).toMatchObject({ status: 200 });
    await issuer.close();
    expect(await create(await sign(good()), 2)).toMatchObject({ status: 200 });
  });
});

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
