import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../../vitest.config.js';
import { groups } from './groups.js';

/** The tests of the group that `main.ts` runs. */
const { tests, testTimeoutMs = 10_000 } = groups[Number(process.env.MUTANTS_GROUP)]!;
const include = [...tests];

/** In the order of the list: a mutant that a fast test kills costs no more than that test. */
class AsListed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => include.findIndex((name) => moduleId.endsWith(name));
    return [...files].sort((a, b) => rank(a) - rank(b));
  }
}

export default {
  ...base,
  test: {
    ...base.test,
    include,
    // The slowest test takes two seconds; a mutant that hangs would wait for the usual half a minute.
    testTimeout: testTimeoutMs,
    setupFiles: ['test/programs/mutants/setup.ts'],
    sequence: { sequencer: AsListed },
  },
};
