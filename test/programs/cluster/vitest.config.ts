import { defineConfig, mergeConfig } from 'vitest/config';
import { ProgressReporter } from '../../support/progress-reporter.js';
import base from '../../vitest.config.js';

const config = mergeConfig(
  base,
  defineConfig({
    test: {
      reporters: [
        new ProgressReporter({
          'galera.cluster.ts': 150,
          'mariadb.cluster.ts': 60,
          'outages.cluster.ts': 60,
          'patroni.cluster.ts': 190,
          'postgres.cluster.ts': 90,
          'split.cluster.ts': 60,
        }),
        // Without its own moving lines.
        ['default', { summary: false }],
      ],
      globalSetup: ['test/programs/cluster/install.ts'],
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
