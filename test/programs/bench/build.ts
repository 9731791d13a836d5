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
 * @returns the program of one side of a pair, and the core as it is in the package
 */
export async function buildChild(sources: string = root): Promise<{ child: string; core: string }> {
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
  const files = Object.entries(entries).map(([name, file]): [string, string] => [name, join(sources, file)]);
  // An older checkout may lack some.
  const entryPoints = Object.fromEntries(files.filter(([, file]) => existsSync(file)));
  await build({ ...options, entryPoints: { child: `${root}/test/programs/bench/child.ts` }, outdir });
  await build({ ...options, entryPoints, outdir: `${outdir}/dist` });
  return { child: `${outdir}/child.js`, core: `${outdir}/dist/index.js` };
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
      onResolve({ filter: /^\.\.\/\.\.\/\.\.\/src\// }, (args) =>
        args.importer.includes('/test/programs/bench/')
          ? path(args.path.slice(9).replace(/\.js$/, '.ts'))
          : undefined,
      );
    },
  };
}
