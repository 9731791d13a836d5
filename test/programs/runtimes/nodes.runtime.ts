import { describe, expect, test } from 'vitest';
import { nodeVersions, run } from './runtimes.js';

describe.each(nodeVersions)('on Node %s', (version) => {
  test('the built package passes the contract table on every host, and the matrix of bodies', async () => {
    const config = ['--config', 'test/programs/runtimes/built.config.ts', '--reporter', 'dot'];
    const program = run(`node${version}`, 'node_modules/vitest/vitest.mjs', 'run', ...config);
    const code = await program.exit;
    expect(code, program.output()).toBe(0);
    expect(program.output()).toMatch(/Tests .*\d{4} passed/);
  });
});

test.each([
  ['npm start', 'examples/server/start.js'],
  ['npx plant-store', 'dist/cli.js'],
])('%s says in one line that Node 18 is too old', async (_, file) => {
  const program = run('node18', file);
  expect(await program.exit).toBe(1);
  expect(program.output()).toMatch(/^plant-store: requires Node 20 or later, found 18\.[\d.]+\n$/);
});
