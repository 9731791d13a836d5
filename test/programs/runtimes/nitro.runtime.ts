// Nitro 3.0.0 with srvx 0.8.16: there the signal of a request aborts as soon as its body is read, though its client waits.
import { expect, it } from 'vitest';
import { createPlant } from '../../support/plants.js';
import { freePort, startProgram, untilTestEnds, urlOf } from '../../support/program.js';
import { bundleTo, run, tool } from './runtimes.js';

it('returns 200 for each of 200 concurrent creates through groupCommit in Nitro 3.0.0', async () => {
  await bundleTo('nitro-app/routes/plants.post.mjs', 'test/programs/runtimes/nitro-route.ts');
  const folder = tool('../nitro-app');
  const build = run(
    'node22',
    tool('nitro/dist/cli/index.mjs'),
    'build',
    '--dir',
    folder,
    '--preset',
    'node-server',
  );
  expect(await build.exit, build.output()).toBe(0);
  // It takes no port of 0.
  const PORT = `${await freePort()}`;
  const command = [tool('node22/bin/node'), `${folder}/.output/server/index.mjs`];
  const program = untilTestEnds(startProgram(command, { PORT, NITRO_HOST: '127.0.0.1' }));
  const url = await urlOf(program);
  const creates = Array.from({ length: 200 }, (_, i) =>
    createPlant(url, `{"id":${i + 1},"name":"Rosa canina"}`),
  );
  for (const { status, body } of await Promise.all(creates))
    expect([status, body]).toEqual([200, { name: 'Rosa canina' }]);
});
