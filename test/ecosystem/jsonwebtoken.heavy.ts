// The recipe for jsonwebtoken.
import { expect, it } from 'vitest';
import { ecosystemBundle, load } from '../support/installed.js';
import { createPlant } from '../support/plants.js';
import { startProgram, untilTestEnds, urlOf } from '../support/program.js';

const program = ecosystemBundle('jsonwebtoken');
const SECRET = 'a secret of at least 32 characters';

it('jsonwebtoken: a valid token creates a plant, and each invalid one is a 401', async () => {
  const { default: jwt } = await load('jsonwebtoken');
  const url = await urlOf(untilTestEnds(startProgram([process.execPath, program], { SECRET })));
  const claims = { sub: 'rosa', aud: 'plants' };
  const create = async (token: string) => {
    const { status, body } = await createPlant(url, '{"id":1,"name":"Rosa"}', token);
    return [status, (body as { error?: number }).error];
  };
  const none = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify(claims))}.`.replaceAll('=', '');
  for (const [what, token] of Object.entries({
    'another secret': jwt.sign(claims, `another ${SECRET}`),
    expired: jwt.sign(claims, SECRET, { expiresIn: -1 }),
    'another audience': jwt.sign({ ...claims, aud: 'beds' }, SECRET),
    'no subject': jwt.sign({ aud: 'plants' }, SECRET),
    'no JWT': 'rosa',
    'no signature': none,
  }))
    expect([what, ...(await create(token))]).toEqual([what, 401, 40102]);
  expect(await create(jwt.sign(claims, SECRET, { expiresIn: 60 }))).toEqual([200, undefined]);
});

it('jsonwebtoken: without a secret the program says so and ends', async () => {
  const started = startProgram([process.execPath, program], { SECRET: '' });
  expect(await started.exit).toBe(1);
  expect(started.output()).toContain('SECRET must have 32 bytes or more');
});
