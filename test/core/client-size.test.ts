// In a file of its own, because mutants of the client make its code longer.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('the client is at most 1 350 bytes, minified and gzipped, and needs nothing but fetch', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/client/client.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    minify: true,
    write: false,
    metafile: true,
  });
  expect(
    Object.keys(metafile.inputs).filter((name) => !/src\/client\/(client|error)\.ts$/.test(name)),
  ).toEqual([]);
  expect(gzipSync(outputFiles[0]!.contents).length).toBeLessThanOrEqual(1_350);
});
