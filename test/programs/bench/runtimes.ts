import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './build.js';

export type Runtime = 'node' | 'bun' | 'deno';

// Fetched from npm, and kept: they are 200 MB.
const folder = join(root, 'node_modules/.cache/plant-store-bench-runtimes');
const bin = (name: string) => join(folder, 'node_modules/.bin', name);

/** How each runtime starts a program. */
export const commands: Record<Runtime, readonly string[]> = {
  node: [process.execPath, '--expose-gc'],
  bun: [bin('bun')],
  deno: [bin('deno'), 'run', '--allow-all', '--quiet'],
};

// Where a contender imports Elysia from.
process.env.BENCH_PEERS = join(folder, 'node_modules');

/** Whether `installRuntimes` has been here. */
export const areInstalled = (): boolean =>
  [bin('bun'), bin('deno'), join(folder, 'node_modules/elysia')].every(existsSync);

/** Fetches Bun, Deno and Elysia from npm, unless they are there. */
export function installRuntimes(): void {
  if (areInstalled()) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  // Both put their binary where it belongs in an install script.
  const options = ['--ignore-scripts=false', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', '--prefix', folder, ...options, 'bun@1', 'deno@2', 'elysia@1.4.30'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
