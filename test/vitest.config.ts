import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { entries } from '../tsup.config.js';
import { longestFirst } from './support/longest-first.js';
import { seedOf } from './support/random.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Each takes a tenth of the time of a run, or more. */
const longest = [
  'columns.sized.test',
  'storages.test',
  'audit.test',
  'hosts/hosts.test',
  'init.test',
  'uploads.sized.test',
  'errors.test',
  'whole-body.test',
  'group-commit-model.sized.test',
  'disconnects.sized.test',
];

export default defineConfig({
  root,
  test: {
    include: ['test/**/*.test.ts'],
    // Tests of apps, by their own runners.
    exclude: ['**/node_modules/**', 'test/ecosystem/apps/**'],
    setupFiles: ['test/support/fake-timeouts.ts'],
    globalSetup: ['test/support/run-folder.ts', 'test/support/print-seed.ts'],
    env: { SEED: String(seedOf(process.env.SEED ?? '1')) },
    // Two more than cores: the tests wait for sockets, timers and databases a third of the time.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: longestFirst(longest) },
    // No test takes more than some seconds: these limits end one that hangs, and never one on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
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
