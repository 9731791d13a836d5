import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { entries } from '../tsup.config.js';
import { seedOf } from './support/random.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The files that take longest come first: vitest would begin with the largest, and the last one would run alone. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const slow =
      /\/((columns|storages|init|hosts|audit|(uploads|disconnects)\.sized)\.test|(programs|apps|bridges|alerts|proxies|tarball|page)\.heavy|suite\.runtime)\.ts$/;
    const slowness = ({ moduleId }: TestSpecification) => Number(slow.test(moduleId));
    return (await super.sort(files)).sort((a, b) => slowness(b) - slowness(a));
  }
}

export default defineConfig({
  root,
  test: {
    include: ['test/**/*.test.ts'],
    // Tests of apps, by their own runners.
    exclude: ['**/node_modules/**', 'test/ecosystem/apps/**'],
    globalSetup: ['test/support/run-folder.ts', 'test/support/print-seed.ts'],
    env: { SEED: String(seedOf(process.env.SEED ?? '1')) },
    // One more than cores: the tests wait for sockets, timers and databases a quarter of the time.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowestFirst },
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
