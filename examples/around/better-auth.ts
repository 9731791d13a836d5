// better-auth: a session's token is the bearer token, which the plugin bearer() accepts besides the cookie.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { bearer } from 'better-auth/plugins';
import { createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const options = {
  baseURL: 'http://127.0.0.1:3000',
  secret: process.env.BETTER_AUTH_SECRET ?? 'for-evaluation-only-for-evaluation-only',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }), // your own
  emailAndPassword: { enabled: true },
  plugins: [bearer()],
} satisfies BetterAuthOptions;
export const auth = betterAuth(options);

/** The token of the session that a request's cookie has, for the client in a form's action. */
export const tokenOf = async (headers: Headers): Promise<string | undefined> =>
  (await auth.api.getSession({ headers }))?.session.token;

const handle = createPlantStore(memoryStorage(), async (token) => {
  const session = await auth.api.getSession({ headers: new Headers({ authorization: `Bearer ${token}` }) });
  return session?.user; // null is a 401; an error of the database is a 500
});

export const server = createServer(toNode(handle));
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
