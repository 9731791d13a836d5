import { expect, test } from 'vitest';
import { run } from './runtimes.js';

test.each([
  ['npm start', 'examples/server/start.js'],
  ['npx plant-store', 'dist/cli.js'],
])('%s says in one line that Node 18 is too old', async (_, file) => {
  const program = run('node18', file);
  expect(await program.exit).toBe(1);
  expect(program.output()).toMatch(/^plant-store: requires Node 20 or later, found 18\.[\d.]+\n$/);
});

// Nineteen servers and proxies, one after the other.
const smuggling = { timeout: 300_000 };

// What a version of Node takes for the end of a request is its parser's affair. The heavy run has the Node that it runs on.
test('nothing is smuggled past the newest Node, direct and behind proxies', smuggling, async () => {
  const suite = ['run', '--config', 'test/heavy.config.ts', 'test/hosts/smuggling.heavy.ts'];
  const program = run('node26', 'node_modules/vitest/vitest.mjs', ...suite);
  expect(await program.exit, program.output()).toBe(0);
});
