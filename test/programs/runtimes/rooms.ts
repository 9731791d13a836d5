/** The tests of `core/`, `hosts/` and `storages/`, as the other runtimes run them. */
import { readdirSync } from 'node:fs';
import { buildSync } from 'esbuild';
import { root } from '../../support/root.js';

/** Their paths, from the root of the repository. */
export const testFiles: readonly string[] = ['core', 'hosts', 'storages'].flatMap((room) =>
  readdirSync(`${root}test/${room}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${room}/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.test.ts')),
);

/**
 * Those that import a file of `src/` by its path, themselves or through a file of `test/support/`. With the built package they
 * would have two copies of it: a clock that is put in place in one would not be the clock of the other.
 */
export const testsOfSources: readonly string[] = (() => {
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: [...testFiles],
    bundle: true,
    metafile: true,
    write: false,
    outdir: 'unused',
    platform: 'node',
    format: 'esm',
    // Not those of tsconfig.json, which name the sources.
    tsconfigRaw: {},
    packages: 'external',
  });
  const outputs = Object.values(metafile.outputs);
  return outputs
    .filter(({ inputs }) => Object.keys(inputs).some((name) => name.startsWith('src/')))
    .map(({ entryPoint }) => entryPoint!);
})();

/** All others, which run with the built package. */
export const testsOfBuilt: readonly string[] = testFiles.filter((file) => !testsOfSources.includes(file));

/** The published cases, and the faults of databases: what plant-store promises on every version that it runs with. */
export const testsOfOldest: readonly string[] = [
  ...['hosts', 'hono'].map((name) => `test/hosts/${name}.test.ts`),
  ...['storages', 'faults', 'peers', 'errors', 'postgres-tables', 'assumptions'].map(
    (name) => `test/storages/${name}.test.ts`,
  ),
];

/** Those of the others that use a framework or a driver. */
export const testsOfOlder: readonly string[] = testsOfBuilt.filter(
  (file) => !file.startsWith('test/core/') && !testsOfOldest.includes(file),
);
