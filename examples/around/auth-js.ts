// Auth.js (NextAuth 5) with sessions as JWTs: the value of its session cookie is the bearer token.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decode } from '@auth/core/jwt';
import { createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const { AUTH_SECRET: secret = 'for-evaluation-only' } = process.env;
// The name of the cookie. Over HTTPS, Auth.js calls it __Secure-authjs.session-token.
const salt = 'authjs.session-token';

const handle = createPlantStore(memoryStorage(), async (token) => {
  // No network is involved, so an error means an invalid token: `decode` throws JWEInvalid, JWTExpired and others.
  const session = await decode({ token, secret, salt }).catch(() => null);
  return session?.sub;
});

export const server = createServer(toNode(handle));
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
