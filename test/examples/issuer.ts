/** An issuer of JWTs, as OAuth and OpenID Connect have one: it publishes its keys, and signs with them. */
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { listen } from '../support/sockets.js';

export type Key = Awaited<ReturnType<typeof newKey>>;

/** A key with its name, which a token may leave out. */
export async function newKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256' };
  const sign = (claims: JWTPayload, names: { kid?: string } = { kid }): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', ...names }).sign(privateKey);
  return { jwk, sign };
}

/** Publishes keys on a free port, with any response in their place once `fails` is called. */
export async function startIssuer(...keys: readonly Key[]) {
  const works = { status: 200, body: JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }) };
  let next = works;
  let fetched = 0;
  const server = createServer((_request, response) => {
    fetched++;
    response.writeHead(next.status, { 'content-type': 'application/json' }).end(next.body);
  });
  const { url, close } = await listen(server);
  return {
    url,
    /** How often its keys were asked for. */
    fetched: () => fetched,
    respondWith(failure = works) {
      next = failure;
    },
    close,
  };
}
