// What a storage adds to an app: the statements and looks at tables weigh something, drivers nothing.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { root } from '../support/root.js';
import { storageBudgets } from './budget.js';

it.each(Object.entries(storageBudgets))('plant-store/%s weighs at most %i bytes', async (name, budget) => {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'adapters/storages', `${name}.ts`)],
    bundle: true,
    format: 'esm',
    // Neutral, because then an import of a driver or a Node module fails.
    platform: 'neutral',
    minify: true,
    write: false,
    plugins: [
      {
        name: 'without plant-store itself',
        setup: ({ onResolve }) => {
          onResolve({ filter: /src\/index\.js$/ }, () => ({ path: 'plant-store', external: true }));
        },
      },
    ],
  });
  const size = gzipSync(outputFiles[0]!.contents).length;
  expect(size).toBeLessThanOrEqual(budget);
});
