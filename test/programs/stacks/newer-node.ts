import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { newFolder } from '../../support/run-folder.js';

const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** A `PATH` with Node 22, for tools that refuse this Node: from the folder of `RUNTIMES`, or from npm. */
export function pathWithNode22(): string {
  const { PATH = '', RUNTIMES } = process.env;
  if (Number(process.versions.node.split('.')[0]) >= 22) return PATH;
  const binOf = (folder: string) => join(folder, 'node_modules/node22/bin');
  if (RUNTIMES && existsSync(binOf(RUNTIMES))) return `${binOf(RUNTIMES)}${delimiter}${PATH}`;
  const folder = newFolder();
  const node = `node22@npm:node-${platform}@22.23.3`;
  execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', node], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return `${binOf(folder)}${delimiter}${PATH}`;
}
