import { mergeConfig } from 'vitest/config';
import base from './vitest.config.js';

/**
 * `npm run test:heavy`: the tests that take long, or need a browser or a tracer, whose files end in `.heavy.ts`; and at
 * their full size the tests whose files end in `.sized.test.ts`, which `npm test` runs at a smaller size.
 */
const config = mergeConfig(base, {});
config.test = {
  ...base.test,
  include: ['test/**/*.heavy.ts', 'test/**/*.sized.test.ts'],
  env: { HEAVY: 'true' },
  // One file at a time, because each of them loads the machine.
  fileParallelism: false,
  // A line for each test: a file takes up to a minute.
  reporters: ['verbose'],
};
export default config;
