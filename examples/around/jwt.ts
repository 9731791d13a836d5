// JWTs of an OAuth or OpenID Connect issuer. jose verifies them with the keys that the issuer publishes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { createPlantStore, InsufficientScope, type PlantStorage, type VerifyToken } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const { ISSUER = 'http://127.0.0.1:8080', AUDIENCE = 'plants', PORT = '3000' } = process.env;

interface User {
  readonly subject: string;
}

// jose fetches the keys for the first token, keeps them, and fetches again if a token names an unknown key.
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', ISSUER));

const verifyToken: VerifyToken<User> = async (token) => {
  const rules = { issuer: ISSUER, audience: AUDIENCE, requiredClaims: ['sub', 'exp'] };
  const verified = await jwtVerify(token, keys, rules).catch((error: unknown) => {
    if (isBadToken(error)) return null;
    // The issuer is out of reach or answers nonsense. The token may be good, so answer 500 and never 401.
    throw error;
  });
  if (!verified) return null;
  const { sub, scope } = verified.payload;
  if (!String(scope).split(' ').includes('plants:write')) throw new InsufficientScope('plants:write');
  return { subject: sub as string };
};

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

const server = createServer(toNode(createPlantStore(storage, verifyToken)));
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
