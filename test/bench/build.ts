import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { entries } from '../../tsup.config.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Bundles the library's sources and the contenders as tsup builds them: plain JavaScript, other packages left out.
 *
 * @returns the program of one side of a duel, and the core as it is in the package
 */
export async function buildChild(): Promise<{ child: string; core: string }> {
  // Below node_modules, to find the packages, and in a folder of its own: two may run at a time.
  const outdir = `${root}/node_modules/.cache/plant-store-bench/${process.pid}`;
  const options = {
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'es2022',
  } as const;
  const sources = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, root + file]));
  await build({ ...options, entryPoints: { child: `${root}/test/bench/child.ts` }, outdir });
  await build({ ...options, entryPoints: sources, outdir: `${outdir}/dist` });
  return { child: `${outdir}/child.js`, core: `${outdir}/dist/index.js` };
}
