/** Runs the tests of `core/`, `hosts/` and `storages/` on another runtime, and compares its failures with the known ones. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { inject } from 'vitest';
import { root } from '../../support/root.js';
import type { Exception } from './exceptions.js';
import { type RuntimeName, run } from './runtimes.js';

/** A test as vitest's JSON reporter writes it. */
interface ReportedTest {
  readonly fullName: string;
  readonly status: 'passed' | 'failed' | 'pending' | 'skipped' | 'todo';
  readonly failureMessages: readonly string[];
}

interface ReportedFile {
  readonly name: string;
  readonly status: 'passed' | 'failed';
  /** Why the file itself failed, for example at its imports. */
  readonly message: string;
  readonly assertionResults: readonly ReportedTest[];
}

export interface Outcome {
  /** The files that ran, from the root of the repository. */
  readonly files: readonly string[];
  /** Each test that failed or did not run, and is not a known exception. */
  readonly failures: readonly string[];
  /** Each exception that is none: its tests pass, or there is no such test. */
  readonly untrue: readonly string[];
}

/** A pattern for vitest that leaves out the tests whose titles match one of these. */
const patternWithout = (patterns: readonly RegExp[]) =>
  `^(?!.*(?:${patterns.map(({ source }) => source).join('|')}))`;

/** @param config a file of this folder that picks the tests */
export async function outcomeOf(
  runtime: RuntimeName,
  config: string,
  exceptions: readonly Exception[],
): Promise<Outcome> {
  const report = `${inject('runtimes')}/${runtime}-${config}.json`;
  const skipped = exceptions.filter(({ isSkipped }) => isSkipped).map(({ tests }) => tests);
  const program = run(
    runtime,
    'node_modules/vitest/vitest.mjs',
    'run',
    ...['--config', `test/programs/runtimes/${config}`],
    ...['--reporter', 'dot', '--reporter', 'json', `--outputFile.json=${report}`],
    ...(skipped.length > 0 ? ['--testNamePattern', patternWithout(skipped)] : []),
  );
  await program.exit;
  const files = readReport(report, program.output());
  const failures = files.flatMap((file) => failuresOf(file, exceptions));
  // An exception that no test caught fails none of them.
  if (program.output().includes('Unhandled Errors')) failures.push(program.output());
  return {
    files: files.map(({ name }) => pathOf(name)),
    failures,
    untrue: exceptions.flatMap((exception) => untrueOf(exception, files)),
  };
}

const pathOf = (file: string) => relative(root, file).replaceAll('\\', '/');

function readReport(report: string, output: string): readonly ReportedFile[] {
  try {
    return JSON.parse(readFileSync(report, 'utf8')).testResults;
  } catch (cause) {
    throw new Error(`vitest wrote no report:\n${output}`, { cause });
  }
}

const isIn = (file: ReportedFile, exception: Exception) => pathOf(file.name) === `test/${exception.file}`;

/** Cases of `storageCases` that each runtime skips by name for a storage whose `open` does not give what they need. */
const skippedCases = /\b(namespaces|second-unique-column|lost-response|serialization-failure|constraint): /;

function failuresOf(file: ReportedFile, exceptions: readonly Exception[]): string[] {
  const known = exceptions.filter((exception) => isIn(file, exception));
  // One that did not run has not passed: a pattern of an exception may fit tests of other files.
  const others = file.assertionResults.filter(
    ({ status, fullName }) => status !== 'passed' && !(status === 'skipped' && skippedCases.test(fullName)),
  );
  const unknown = others.filter(({ fullName }) => !known.some(({ tests }) => tests.test(fullName)));
  const texts = unknown.map(
    ({ fullName, status, failureMessages }) =>
      `${status}: ${pathOf(file.name)} > ${fullName}\n${failureMessages.join('\n')}`,
  );
  if (file.status === 'failed' && others.length === 0) texts.push(`${pathOf(file.name)}\n${file.message}`);
  return texts;
}

function untrueOf(exception: Exception, files: readonly ReportedFile[]): string[] {
  const file = files.find((file) => isIn(file, exception));
  // The other configuration runs it.
  if (!file) return [];
  const named = file.assertionResults.filter(({ fullName }) => exception.tests.test(fullName));
  const title = `${exception.file} > ${exception.tests}`;
  if (named.length === 0) return [`no such test: ${title}`];
  const passed = named.filter(({ status }) => status === 'passed');
  return passed.map(({ fullName }) => `passes, although it is an exception: ${exception.file} > ${fullName}`);
}
