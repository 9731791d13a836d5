import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { entries } from '../../../tsup.config.js';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Bundles a library's sources and the contenders as tsup builds them: plain JavaScript, other packages left out.
 *
 * @param sources the checkout whose library it is. Default: this one.
 * @returns the program of one side of a pair
 */
export async function buildChild(sources: string = root): Promise<string> {
  // Below node_modules, to find the packages, and in a folder of its own: two may run at a time.
  const name = `${process.pid}-${sources === root ? 'now' : 'before'}`;
  const outdir = `${root}/node_modules/.cache/plant-store-bench/${name}`;
  const options: BuildOptions = {
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    plugins: [librarySources(sources)],
  };
  await build({ ...options, entryPoints: { child: `${root}/test/programs/bench/child.ts` }, outdir });
  return `${outdir}/child.js`;
}

/** The contenders are this checkout's; the library that they use is the one in `sources`. */
function librarySources(sources: string): Plugin {
  // Files have moved: an older checkout has them by their name.
  const path = (file: string) => {
    const found = [file, join('src', basename(file))].find((name) => existsSync(join(sources, name)));
    return { path: join(sources, found ?? file) };
  };
  return {
    name: 'library-sources',
    setup({ onResolve }) {
      onResolve({ filter: /^plant-store(\/|$)/ }, (args) => {
        const name = args.path.slice('plant-store/'.length) || 'index';
        return path(entries[name as keyof typeof entries]);
      });
    },
  };
}
