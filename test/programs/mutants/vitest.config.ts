import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../../vitest.config.js';

/** Vitest begins with what takes longest. Most mutants die in a short file, and the first failure ends their run. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).reverse();
  }
}

/** The tests of the room that `main.ts` names. */
export default {
  ...base,
  test: {
    ...base.test,
    include: process.env.MUTANTS_TESTS!.split(/,(?![^{]*\})/),
    // A mutant that hangs would wait for the usual half a minute.
    testTimeout: 10_000,
    sequence: { sequencer: ShortestFirst },
    setupFiles: [...base.test!.setupFiles!, 'test/programs/mutants/setup.ts'],
  },
};
