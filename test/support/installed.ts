import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleOf } from './bundle.js';
import { examples } from './examples.js';
import { root } from './root.js';

// biome-ignore lint/suspicious/noExplicitAny: the packages are not there when types are checked
export type Any = any;

const list = readFileSync(join(root, 'test/ecosystem/package.json'), 'utf8');

/**
 * Where the packages of `test/ecosystem/package.json` are, which only heavy tests need: installed on the first call, and
 * kept until the next `npm ci`. Next to them, Node also finds the packages of the repository.
 */
export function ecosystemFolder(): string {
  const hash = createHash('sha256').update(list).digest('hex').slice(0, 12);
  const folder = join(root, 'node_modules/.cache/plant-store', hash);
  if (existsSync(folder)) return folder;
  // Under another name until it is whole: a run that is interrupted leaves nothing that looks installed.
  const unfinished = `${folder}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  writeFileSync(join(unfinished, 'package.json'), list);
  // Imports a package for a test, from here.
  writeFileSync(join(unfinished, 'load.js'), 'export const load = (name) => import(name);\n');
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error', '--prefer-offline'];
  execFileSync('npm', ['install', '--ignore-scripts', '--legacy-peer-deps', ...quiet], {
    cwd: unfinished,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another file of tests was first.
    if (!existsSync(folder)) throw error;
    rmSync(unfinished, { recursive: true });
  }
  return folder;
}

/** Imports a package of `test/ecosystem/package.json`, or a subpath of one. */
export async function load(name: string): Promise<Any> {
  const { load } = await import(pathToFileURL(join(ecosystemFolder(), 'load.js')).href);
  return load(name);
}

/** The bundle of a program of `examples/` that imports such packages. */
export const ecosystemBundle = (name: string): string => bundleOf(examples.get(name)!, ecosystemFolder());

/** Runs such a program in the process of the test, and returns its exports. */
export const importExample = (name: string): Promise<Any> =>
  import(pathToFileURL(ecosystemBundle(name)).href);

// `.ci/run` runs this beside other tests: two test files that begin together would each install the packages.
if (process.argv[1] === fileURLToPath(import.meta.url)) ecosystemFolder();
