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
