/** The tests of `core/`, `hosts/` and `storages/`, as the other runtimes run them. */
import { readdirSync } from 'node:fs';
import { buildSync } from 'esbuild';
import { root } from '../../support/root.js';
import older from './older/package.json' with { type: 'json' };

/** Their paths, from the root of the repository. */
export const testFiles: readonly string[] = ['core', 'hosts', 'storages'].flatMap((room) =>
  readdirSync(`${root}test/${room}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${room}/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.test.ts')),
);

/** Of each test, with what it imports itself or through another file, by its path: the files, and the packages. */
const imported = (() => {
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
  return new Map(
    outputs.map(({ entryPoint, inputs, imports }) => [
      entryPoint!,
      { files: Object.keys(inputs), packages: imports.map(({ path }) => path) },
    ]),
  );
})();

/**
 * Those that import a file of `src/` by its path, themselves or through a file of `test/support/`. With the built package they
 * would have two copies of it: a clock that is put in place in one would not be the clock of the other.
 */
export const testsOfSources: readonly string[] = testFiles.filter((file) =>
  imported.get(file)!.files.some((name) => name.startsWith('src/')),
);

/** All others, which run with the built package. */
export const testsOfBuilt: readonly string[] = testFiles.filter((file) => !testsOfSources.includes(file));

/** The published cases, and the faults of databases: what plant-store promises on every version that it runs with. */
export const testsOfOldest: readonly string[] = [
  ...['hosts', 'hono'].map((name) => `test/hosts/${name}.test.ts`),
  ...['storages', 'faults', 'peers', 'errors', 'postgres-tables', 'assumptions'].map(
    (name) => `test/storages/${name}.test.ts`,
  ),
];

const isOld = (name: string) =>
  Object.keys(older.dependencies).some((old) => name === old || name.startsWith(`${old}/`));

/** Those of the others that import a framework or a driver. Without one, a test does the same as on the newest. */
export const testsOfOlder: readonly string[] = testsOfBuilt.filter(
  (file) => imported.get(file)!.packages.some(isOld) && !testsOfOldest.includes(file),
);
