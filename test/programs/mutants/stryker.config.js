import { availableParallelism } from 'node:os';

/** What `main.ts` does not say on the command line. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/programs/mutants/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // One more than cores: the tests wait half of the time.
  concurrency: Number(process.env.MUTANTS_CONCURRENCY ?? availableParallelism() + 1),
  // In addition to one and a half of the tests' own time. On a busy machine a shorter limit would count slow tests as a kill.
  timeoutMS: 5_000,
  // Stryker would load TypeScript, which it does not bring, to rewrite a file that no test needs.
  ignorePatterns: ['dist', 'tsconfig.json'],
  // A test compares files byte by byte: no comment may be added to them.
  disableTypeChecks: false,
  reporters: ['progress', 'clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: false },
  jsonReporter: { fileName: process.env.MUTANTS_REPORT },
  allowConsoleColors: false,
};
