import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './root.js';

// biome-ignore lint/suspicious/noExplicitAny: the packages are not there when types are checked
type Load = ((name: string) => Promise<any>) & { readonly folder: string };

/**
 * Installs packages that one heavy suite needs, such as `dynalite@4`, and returns what imports them. They stay in a cache
 * until the next `npm ci`.
 */
export function installed(...packages: readonly string[]): Load {
  const hash = createHash('sha256').update(packages.join()).digest('hex').slice(0, 12);
  const folder = join(root, 'node_modules/.cache/plant-store', hash);
  if (!existsSync(folder)) {
    // Under another name until it is whole: a run that is interrupted leaves nothing that looks installed.
    const unfinished = `${folder}.${process.pid}`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true });
    writeFileSync(join(unfinished, 'package.json'), '{ "private": true }');
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', '--ignore-scripts'];
    execFileSync('npm', ['install', '--prefix', unfinished, ...quiet, ...packages], {
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32',
    });
    renameSync(unfinished, folder);
  }
  const require = createRequire(join(folder, 'package.json'));
  const load = (name: string) => import(pathToFileURL(require.resolve(name)).href);
  return Object.assign(load, { folder });
}
