import { availableParallelism } from 'node:os';
import { mergeConfig } from 'vitest/config';
import { longestFirst } from './support/longest-first.js';
import { seedOf } from './support/random.js';
import base from './vitest.config.js';

/**
 * `npm run test:heavy`: the tests that take long, or need a browser or a tracer, whose files end in `.heavy.ts`; and at
 * their full size the tests whose files end in `.sized.test.ts`, which `npm test` runs at a smaller size. Their random input,
 * and that of the properties, has a new seed each time.
 */
const longest = [
  'apps.heavy',
  'programs.heavy',
  'bridges.heavy',
  'uploads.sized.test',
  'page.heavy',
  'installs.heavy',
  'proxies.heavy',
  'package/types.heavy',
  'group-commit-model.sized.test',
  'columns.sized.test',
  'raised.sized.test',
  'json.sized.test',
  'expressions.heavy',
  'disconnects.sized.test',
  'batch-contexts.sized.test',
];
// One for the whole run: each of its two projects reads this file again.
process.env.SEED ??= String(seedOf('random'));
const config = mergeConfig(base, {});
const include = [
  'test/**/*.heavy.ts',
  'test/**/*.sized.test.ts',
  'test/core/{log,openapi-answers,options,schema}.test.ts',
];
/** Those that a busy machine breaks, because they measure nanoseconds, or a client that stalls: one after the other, at last. */
const alone = ['alerts', 'browsers', 'tokens'].map((name) => `test/**/${name}.heavy.ts`);
// A project has the files of this one besides its own.
const { include: _, ...test } = base.test!;
config.test = {
  ...test,
  projects: [
    { extends: true, test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    {
      extends: true,
      test: { name: 'heavy', include, exclude: alone },
    },
  ],
  // One less than `npm test`: some of them measure times.
  maxWorkers: availableParallelism() + 1,
  sequence: { sequencer: longestFirst(longest) },
  env: { HEAVY: 'true', SEED: String(seedOf(process.env.SEED)) },
  // A line for each test: a file takes up to a minute.
  reporters: ['verbose'],
};
export default config;
