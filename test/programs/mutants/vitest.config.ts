import base from '../../vitest.config.js';

/** The tests of the room that `main.ts` names. */
export default {
  ...base,
  test: {
    ...base.test,
    include: process.env.MUTANTS_TESTS!.split(/,(?![^{]*\})/),
    // A mutant that hangs would wait for the usual half a minute.
    testTimeout: 10_000,
    setupFiles: ['test/programs/mutants/setup.ts'],
  },
};
