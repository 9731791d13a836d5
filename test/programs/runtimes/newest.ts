/**
 * Installs the newest release of each framework and driver into `node_modules`, for `.github/workflows/canary.yml`, and prints
 * the versions. package.json and its lock stay as they are: `npm ci` brings back what they name.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/root.js';
import oldest from './oldest/package.json' with { type: 'json' };

/** As npm takes it: `koa2` is the newest Koa 2. */
function newestOf([name, version]: [string, string]): string {
  const [, alias, major] = /^npm:(.+)@(\d+)/.exec(version) ?? [];
  return alias ? `${name}@npm:${alias}@${major}` : `${name}@latest`;
}

const { bun: _bun, deno: _deno, ...libraries } = oldest.dependencies;
const packages = Object.entries(libraries).map(newestOf);
const quiet = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--legacy-peer-deps'];
execFileSync('npm', ['install', ...quiet, ...packages], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
});
for (const name of Object.keys(libraries)) {
  const manifest = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
  console.log(`${name} ${manifest.version}`);
}
