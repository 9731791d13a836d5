import { basename } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification } from 'vitest/node';
import { Progress } from './progress.js';

/** A reporter for long runs: shows the test that runs, and how much longer all files take. */
export class ProgressReporter implements Reporter {
  readonly #secondsOf: (file: string) => number;
  #progress = new Progress(1);
  #running = '';
  #test = '';
  #timer: NodeJS.Timeout | undefined;

  /** @param expected how many seconds each file takes; a file that is not listed is expected to take a minute */
  constructor(expected: Readonly<Record<string, number>>) {
    this.#secondsOf = (file) => expected[file] ?? 60;
  }

  onTestRunStart(files: readonly TestSpecification[]): void {
    const total = files.reduce((sum, { moduleId }) => sum + this.#secondsOf(basename(moduleId)), 0);
    this.#progress = new Progress(total, 1);
    this.#timer = setInterval(() => this.#progress.show(`${this.#running}: ${this.#test}`), 1_000);
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    this.#running = basename(moduleId);
  }

  onTestCaseReady({ name }: TestCase): void {
    this.#test = name;
  }

  // The line is cleared before another reporter prints, if that reporter comes later in the list.

  onUserConsoleLog(): void {
    this.#progress.clear();
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#progress.advance(this.#secondsOf(basename(moduleId)));
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
    this.#progress.clear();
  }
}
