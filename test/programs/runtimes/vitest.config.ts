import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** `npm run test:runtimes`: the built package on other versions of Node, on Bun, on Deno and on Workers. */
export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    include: ['test/programs/runtimes/**/*.runtime.ts'],
    globalSetup: 'test/programs/runtimes/install.ts',
    // The suites take longest. They begin first, and the programs of the other files run beside them.
    maxWorkers: 2,
    sequence: base.test!.sequence!,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
