import { mergeConfig } from 'vitest/config';
import base from './vitest.config.js';

/**
 * `npm run test:coverage`: fails if the tests of the promises leave more than 2 % of the branches of a folder untaken.
 * Programs that a test starts are not counted, so the tests of the examples are left out.
 */
const config = mergeConfig(base, {
  test: {
    coverage: {
      enabled: true,
      provider: 'v8',
      include: ['src/**/*.ts', 'adapters/**/*.ts', 'test/published/**/*.ts'],
      reporter: ['text', 'html', 'json'],
      thresholds: {
        'src/**': { branches: 98 },
        'adapters/**': { branches: 98 },
        'test/published/**': { branches: 98 },
      },
    },
  },
});
config.test.include = ['test/{core,hosts,storages}/**/*.test.ts'];
export default config;
