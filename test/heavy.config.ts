import { mergeConfig } from 'vitest/config';
import base from './vitest.config.js';

/** `npm run test:heavy`: the tests that take long, or need a browser or a tracer. Their files end in `.heavy.ts`. */
const config = mergeConfig(base, {});
config.test = {
  ...base.test,
  include: ['test/**/*.heavy.ts'],
  // One file at a time, because each of them loads the machine.
  fileParallelism: false,
  // A line for each test: a file takes up to a minute.
  reporters: ['verbose'],
};
export default config;
