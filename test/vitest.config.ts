import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { entries } from '../tsup.config.js';

const root = fileURLToPath(new URL('..', import.meta.url));

export default defineConfig({
  root,
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/run-folder.ts',
    // Vitest leaves a core free: of two cores that would be half.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    // A hook may have to start a database on a busy machine.
    hookTimeout: 60_000,
    // A line for each file, and none for each test that takes some time.
    slowTestThreshold: 10_000,
  },
  resolve: {
    // `plant-store` means the source, so that tests and examples look like a user's code.
    alias: Object.entries(entries).map(([name, file]) => ({
      find: name === 'index' ? /^plant-store$/ : new RegExp(`^plant-store/${name}$`),
      replacement: root + file,
    })),
  },
});
