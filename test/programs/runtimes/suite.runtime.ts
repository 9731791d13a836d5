// The tests of core/, hosts/ and storages/ on each other runtime: with the built package, and those that import a file of
// src/ by its path with the sources. Then those of hosts/ and storages/ on old packages: the published cases on the oldest that run, the
// others on the oldest that have what these tests use. exceptions.ts has what fails.
import { describe, expect, test } from 'vitest';
import { type Exception, exceptions } from './exceptions.js';
import { testFiles, testsOfBuilt, testsOfOlder, testsOfOldest, testsOfSources } from './rooms.js';
import type { RuntimeName } from './runtimes.js';
import { outcomeOf } from './suite.js';

type Suite = [runtime: RuntimeName, config: string, files: readonly string[]];

/** The newest Node: the oldest runs `npm test`, and what lies between them is run by the workflow of pull requests. */
const runtimes: readonly RuntimeName[] = ['node26', 'bun', 'deno'];
const suites = runtimes.flatMap((runtime): Suite[] => [
  [runtime, 'built.config.ts', testsOfBuilt],
  [runtime, 'sources.config.ts', testsOfSources],
]);

/** Each takes a minute and a half on two cores that nothing else needs. */
const timeout = 600_000;

async function expectToPass([runtime, config, expected]: Suite, known: readonly Exception[]) {
  const { files, failures, untrue } = await outcomeOf(runtime, config, known);
  expect(failures).toEqual([]);
  expect(untrue).toEqual([]);
  expect([...files].sort()).toEqual([...expected].sort());
}

const exceptionsOn = (name: Exception['on'][number]) => exceptions.filter(({ on }) => on.includes(name));

describe('every test passes but the exceptions', () => {
  test.each(suites)('on %s, by %s', (...suite) => expectToPass(suite, exceptionsOn(suite[0])), timeout);

  test.each([
    ['older', testsOfOlder],
    ['oldest', testsOfOldest],
  ] as const)(
    'on the oldest Node, with the packages of %s/',
    (set, files) => expectToPass(['node20', `${set}.config.ts`, files], exceptionsOn(set)),
    timeout,
  );
});

test('each exception names a file that there is', () => {
  expect(exceptions.filter(({ file }) => !testFiles.includes(`test/${file}`))).toEqual([]);
});
