// JWTs of an OAuth or OpenID Connect issuer. jose verifies them with the keys that the issuer publishes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, errors, type JWTVerifyResult, jwtVerify } from 'jose';
import { createPlantStore, InsufficientScope, type PlantStorage, type VerifyToken } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const { ISSUER = 'http://127.0.0.1:8080', AUDIENCE = 'plants', PORT = '3000' } = process.env;

interface User {
  readonly subject: string;
}

// jose fetches the keys for the first token, caches them, and fetches again if a token names an unknown key.
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', ISSUER));

const rules = { issuer: ISSUER, audience: AUDIENCE, requiredClaims: ['sub', 'exp'] };

const verifyToken: VerifyToken<User> = async (token) => {
  const verified = await verify(token).catch((error: unknown) => {
    if (isBadToken(error)) return null;
    // The issuer is unavailable or sends no key set. The token may be valid, so respond 500 and never 401.
    throw error;
  });
  if (!verified) return null;
  const { sub, scope } = verified.payload;
  if (!String(scope).split(' ').includes('plants:write')) throw new InsufficientScope('plants:write');
  return { subject: sub as string };
};

/** A token without a `kid` is valid if any key of the issuer verifies it. */
async function verify(token: string): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys, rules);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const verified = await jwtVerify(token, key, rules).catch((error: unknown) => {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      });
      if (verified) return verified;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function isBadToken(error: unknown): boolean {
  return (
    error instanceof errors.JOSEError &&
    /^ERR_(JWT_|JWS_|JWKS_NO_MATCHING_KEY|JOSE_ALG_NOT_ALLOWED|JOSE_NOT_SUPPORTED)/.test(error.code)
  );
}

const plants = memoryStorage();

const storage: PlantStorage<User> = {
  async create(plant, context) {
    const outcome = await plants.create(plant, context);
    console.log(`${context.caller.subject}: plant ${plant.id} ${outcome}`);
    return outcome;
  },
};

export const server = createServer(toNode(createPlantStore(storage, verifyToken)));
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
