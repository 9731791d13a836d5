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
      // Two clusters at a time: they wait most of the time, and three on a small machine would time out each other.
      maxWorkers: 2,
      testTimeout: 180_000,
      hookTimeout: 120_000,
    },
  }),
);
// Merging would add to the list.
config.test!.include = ['test/programs/cluster/**/*.cluster.ts'];
export default config;
