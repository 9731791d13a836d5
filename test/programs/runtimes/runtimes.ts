/** Runs a TypeScript file of this repository as a program on each runtime. */
import { once } from 'node:events';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { inject } from 'vitest';
import { entries } from '../../../tsup.config.js';
import { type Program, startProgram } from '../../support/program.js';
import { root } from '../../support/root.js';

const folder = inject('runtimes');

/** The path of a program in `node_modules` of the temporary folder. */
export const tool = (path: string): string => join(folder, 'node_modules', path);

export const nodeVersions = ['22', '24', '26'] as const;
export type RuntimeName =
  | `node${'18' | '20' | '22.13' | (typeof nodeVersions)[number]}`
  | 'bun'
  | 'bun1.4.3'
  | 'bun1.2'
  | 'deno'
  | 'deno2.1';

const commands: Record<RuntimeName, readonly string[]> = {
  node18: [tool('node18/bin/node')],
  node20: [tool('node20/bin/node')],
  'node22.13': [tool('node22.13/bin/node')],
  node22: [tool('node22/bin/node')],
  node24: [tool('node24/bin/node')],
  node26: [tool('node26/bin/node')],
  // Two packages have a program of this name.
  bun: [tool('bun/bin/bun.exe')],
  'bun1.4.3': [tool('bun1.4.3/bin/bun.exe')],
  'bun1.2': [tool('../oldest/node_modules/.bin/bun')],
  deno: [tool('.bin/deno'), 'run', '--allow-all', '--quiet'],
  // Its launcher, unlike that of later ones, passes no signal on.
  'deno2.1': [tool('../oldest/node_modules/deno/deno'), 'run', '--allow-all', '--quiet'],
};

/**
 * Bundles a file with the built package as `plant-store`, into the folder that has the installed packages.
 *
 * @param file its path from the root of the repository
 */
export async function bundle(file: string): Promise<string> {
  const outfile = join(folder, file.replaceAll('/', '-').replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [join(root, file)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: ['node:*', 'elysia', 'miniflare', 'nitro'],
    alias: Object.fromEntries(
      Object.keys(entries).map((name) => [
        name === 'index' ? 'plant-store' : `plant-store/${name}`,
        join(root, 'dist', `${name}.js`),
      ]),
    ),
    logLevel: 'error',
  });
  return outfile;
}

/** Bundles a file and starts it. */
export async function startOn(runtime: RuntimeName, file: string, ...args: string[]): Promise<Program> {
  return startProgram([...commands[runtime], await bundle(file), ...args]);
}

/** Runs a command line of a runtime to its end. */
export function run(runtime: RuntimeName, ...args: string[]): Program {
  const env = {
    OLD_PACKAGES: folder,
    // From 22 on, Node compiles each module once, and not again in each file's process.
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
  };
  return startProgram([...commands[runtime], ...args], env);
}

/** Ends a program and lets it end its children: workerd and Next would survive a kill, which comes only after 5 s. */
export async function stop({ child }: Program): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
}

/** Writes a text to a path in the temporary folder. */
export async function writeTo(path: string, text: string): Promise<void> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text);
}

/** Writes a bundle to a path in the temporary folder, where a framework looks for it. */
export async function bundleTo(path: string, file: string): Promise<void> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true });
  await copyFile(await bundle(file), target);
}

/** Runs the temporary folder, or one in it, as a Next app. */
export function startNext(app = ''): Program {
  return run('node22', tool('next/dist/bin/next'), 'dev', join(folder, app), '-p', '0');
}
