import { defineConfig, mergeConfig } from 'vitest/config';
import { longestFirst } from '../../support/longest-first.js';
import { seedOf } from '../../support/random.js';
import base from '../../vitest.config.js';

const longest = [
  'galera-partitions',
  'patroni-partitions',
  'patroni-primary',
  'galera-links',
  'patroni-links',
  'patroni',
  'mariadb',
  'galera',
  'outages',
];

const config = mergeConfig(
  base,
  defineConfig({
    test: {
      // A line for each test: some take a minute.
      reporters: ['verbose'],
      globalSetup: ['test/programs/cluster/install.ts'],
      env: { SEED: String(seedOf(process.env.SEED ?? 'random')) },
      // Five clusters at a time on two cores: they wait for a fault to end most of the time.
      maxWorkers: 5,
      sequence: { sequencer: longestFirst(longest.map((name) => `${name}.cluster`)) },
      testTimeout: 180_000,
      // Five clusters start at once, on a machine that may be slow.
      hookTimeout: 400_000,
    },
  }),
);
// The recordings are for the page and for the tests of the checker: they run by hand, and what they print or write is committed.
const { RECORD } = process.env;
// Merging would add to the list.
config.test!.include = [`test/programs/cluster/**/${RECORD ? `${RECORD}.recording` : '*.cluster'}.ts`];
export default config;
