import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.js';
import { dueStacks } from './due.js';

const names = process.env.STACKS === 'due' ? dueStacks() : ['*'];

/** `npm run test:stacks`: the apps of the pages in examples/stacks/, from the tarball. `STACKS=due` runs those that `due.ts` names. */
export default defineConfig({
  // What starts the databases imports plant-store's source; the apps have the tarball.
  resolve: base.resolve!,
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    include: names.map((name) => `test/programs/stacks/${name}.stack.ts`),
    globalSetup: ['test/support/run-folder.ts'],
    // The installs and the builds use both cores.
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 600_000,
    // A line for each test: an app takes a minute or more.
    reporters: ['verbose'],
  },
});
