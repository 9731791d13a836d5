// Sessions of better-auth and of Auth.js as bearer tokens.
import { expect, it } from 'vitest';
import { exampleUrl, rosa, runExamplesHere } from '../examples/recipe.js';
import { importExample, load } from '../support/installed.js';
import { createPlant } from '../support/plants.js';

const printed = runExamplesHere();
const invalid = ['wrong', 'a.b.c', `${'x'.repeat(32)}.${'y'.repeat(43)}=`, 'eyJhbGciOiJkaXIifQ..a.b.c'];

it.each(['better-auth', 'auth-js'])(
  '%s: a token of no session is a 401, and nothing is logged',
  async (name) => {
    const url = await exampleUrl(importExample(name));
    for (const token of invalid)
      expect([token, await createPlant(url, rosa(1), token)]).toMatchObject([
        token,
        { body: { error: 40102 } },
      ]);
    expect(printed.error).not.toHaveBeenCalled();
  },
);

it("better-auth: the token that a sign-up returns creates plants, until the session's end", async () => {
  const { auth, ...program } = await importExample('better-auth');
  const url = await exampleUrl(program);
  const body = { name: 'Rosa', email: 'rosa@example.com', password: 'a-long-password' };
  const { headers, response } = await auth.api.signUpEmail({ body, returnHeaders: true });
  const { token } = response;
  const cookie = headers.get('set-cookie')?.split(';')[0];
  expect(await program.tokenOf(new Headers({ cookie }))).toBe(token);
  expect(await program.tokenOf(new Headers())).toBeUndefined();
  expect(await createPlant(url, rosa(5), token)).toMatchObject({ status: 200 });
  await auth.api.signOut({ headers: new Headers({ authorization: `Bearer ${token}` }) });
  expect(await createPlant(url, rosa(6), token)).toMatchObject({ status: 401 });
});

it('Auth.js: the value of a session cookie creates plants, and not after it has expired', async () => {
  const { encode } = await load('@auth/core/jwt');
  const url = await exampleUrl(importExample('auth-js'));
  const session = { secret: 'for-evaluation-only', salt: 'authjs.session-token', token: { sub: 'rosa' } };
  expect(await createPlant(url, rosa(5), await encode(session))).toMatchObject({ status: 200 });
  const expired = await encode({ ...session, maxAge: -60 });
  expect(await createPlant(url, rosa(6), expired)).toMatchObject({ status: 401, body: { error: 40102 } });
});
