import { defineConfig, mergeConfig } from 'vitest/config';
import { seedOf } from '../../support/random.js';
import base from '../../vitest.config.js';

const config = mergeConfig(
  base,
  defineConfig({
    test: {
      // A line for each test: some take a minute.
      reporters: ['verbose'],
      globalSetup: ['test/programs/cluster/install.ts'],
      env: { SEED: String(seedOf(process.env.SEED ?? 'random')) },
      // One cluster at a time: on a small machine two would time out each other.
      fileParallelism: false,
      testTimeout: 180_000,
      hookTimeout: 120_000,
    },
  }),
);
// Merging would add to the list.
config.test!.include = ['test/programs/cluster/**/*.cluster.ts'];
export default config;
