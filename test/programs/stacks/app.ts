import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { packedPackage } from '../../support/package.js';
import { type Program, startProgram } from '../../support/program.js';
import { readPage, type StackPage } from './page.js';

/** The day as of which other packages are installed: a release of somebody else does not end a run. */
export const day = '2026-11-28';

interface AppOptions {
  /** What an older version of a framework needs instead, such as `express@4` for `express@5`. */
  readonly replace?: (text: string) => string;
}

/** The app that a reader of a page has, with the package as npm installs it: in a folder outside the repository, until the tests end. */
export class StackApp {
  readonly folder: string;
  readonly page: StackPage;
  readonly #replace: (text: string) => string;

  constructor(name: string, { replace = (text) => text }: AppOptions = {}) {
    // Generators of apps name the app after its folder, and admit no capital letters, which the name of the outer one may have.
    const outer = mkdtempSync(join(tmpdir(), `plant-store-${name}-`));
    this.folder = join(outer, name);
    mkdirSync(this.folder);
    // The last of these hooks to run, because it is the first: the app has ended then.
    afterAll(() => rmSync(outer, { recursive: true, force: true, maxRetries: 3 }));
    this.page = readPage(name);
    this.#replace = replace;
  }

  /** Runs the commands of "Install", and writes the files of the page over what those have made. */
  async install(): Promise<void> {
    const tarball = await packedPackage();
    for (const block of this.page.commands('Install')) {
      // On its own: the tarball may depend on what was published after that day.
      const others = block.replace(/(npm install .*?) ?\bplant-store\b/, '$1');
      await this.run(others.replace(/^npm install *$/m, ''), { npm_config_before: day });
      if (others !== block) await this.run(`npm install ${tarball}`);
    }
    this.write(this.page.files);
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, this.#replace(text));
    }
  }

  /** Runs commands in its folder, and returns what they print. Rejects with that if one fails. */
  async run(commands: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const { exit, output } = this.start(commands, env);
    const code = await exit;
    if (code !== 0) throw new Error(`exit code ${code} of\n${commands}\n${output()}`);
    return output();
  }

  /** Starts commands, of which the last replaces the shell if it is the only one: it gets the signals. */
  start(commands: string, env: Readonly<Record<string, string>> = {}): Program {
    const lines = this.#replace(commands).trim();
    // `env`, because a line may begin with variables.
    const script = lines.includes('\n') ? `set -e\n${lines}` : `exec env ${lines}`;
    return startProgram(['sh', '-c', script], { ...quiet, ...env }, this.folder);
  }
}

/** Names these versions (`express@4.21.1`) in the lines of a page that install packages, for its option `replace`. */
export const pinned =
  (...versions: string[]) =>
  (text: string): string =>
    text.replace(/^npm install .*$/gm, (line) => {
      const words = line.split(' ');
      const versionOf = (name: string) => versions.find((version) => version.startsWith(`${name}@`)) ?? name;
      return words.map((word) => (word === '' ? word : versionOf(word))).join(' ');
    });

const quiet = {
  CI: 'true',
  NODE_ENV: '',
  // Of the runner of these tests. With them, better-auth would leave out checks.
  TEST: '',
  VITEST: '',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_prefer_offline: 'true',
  npm_config_update_notifier: 'false',
};
