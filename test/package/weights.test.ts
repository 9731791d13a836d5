// What a storage adds to an app: the statements and looks at tables weigh something, drivers nothing. And what the client weighs.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { root } from '../support/root.js';
import { clientBudget, storageBudgets } from './budget.js';

const rows = [
  ...Object.entries(storageBudgets).map(([name, budget]) => [name, budget, 'adapters/storages'] as const),
  ['client', clientBudget, 'src/client'] as const,
];

it.each(rows)('plant-store/%s weighs at most %i bytes, and has no driver', async (name, budget, folder) => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, folder, `${name}.ts`)],
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
  expect(gzipSync(outputFiles[0]!.contents).length).toBeLessThanOrEqual(budget);
});
