import { basename } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification } from 'vitest/node';

/**
 * A reporter for long runs: shows the test that runs, and how long the rest will take. It shows nothing if no person
 * watches.
 */
export class Progress implements Reporter {
  readonly #expected: Readonly<Record<string, number>>;
  #waiting: string[] = [];
  #running = '';
  #since = 0;
  #test = '';
  #timer: NodeJS.Timeout | undefined;

  /** @param expected what each file takes, in seconds; a file that is not named is taken to need a minute */
  constructor(expected: Readonly<Record<string, number>>) {
    this.#expected = expected;
  }

  onTestRunStart(files: readonly TestSpecification[]): void {
    if (!process.stderr.isTTY) return;
    this.#waiting = files.map(({ moduleId }) => basename(moduleId));
    this.#timer = setInterval(() => this.#show(), 1_000);
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    this.#running = basename(moduleId);
    this.#waiting = this.#waiting.filter((file) => file !== this.#running);
    this.#since = Date.now();
  }

  onTestCaseReady({ name }: TestCase): void {
    this.#test = name;
  }

  // The line goes before another reporter prints, if that one stands behind this one in the list.

  onUserConsoleLog(): void {
    this.#hide();
  }

  onTestModuleEnd(): void {
    this.#hide();
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
    this.#hide();
  }

  #hide(): void {
    if (this.#timer) process.stderr.write('\r\u001b[K');
  }

  #show(): void {
    const secondsOf = (file: string) => this.#expected[file] ?? 60;
    const spent = (Date.now() - this.#since) / 1_000;
    const rest = this.#running ? Math.max(0, secondsOf(this.#running) - spent) : 0;
    const left = this.#waiting.reduce((sum, file) => sum + secondsOf(file), rest);
    const time = left < 90 ? `${left.toFixed(0)} s` : `${(left / 60).toFixed(0)} min`;
    const line = `about ${time} left, ${this.#running}: ${this.#test}`;
    process.stderr.write(`\r${line.slice(0, (process.stderr.columns || 80) - 1)}\u001b[K`);
  }
}
