// The Workers of `examples/`, and the one that `init` prints, in workerd.
import { join } from 'node:path';
import { build } from 'esbuild';
import { schema } from 'plant-store/sqlite-async';
import { describe, it, onTestFinished } from 'vitest';
import { load } from '../support/installed.js';
import { expectExactPlants } from '../support/plants.js';
import { root } from '../support/root.js';

const { Miniflare } = await load('miniflare');

async function bundled(example: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, `examples/${example}.ts`)],
    bundle: true,
    write: false,
    format: 'esm',
    external: ['cloudflare:*'],
    tsconfig: join(root, 'tsconfig.json'),
  });
  return outputFiles[0]!.text;
}

describe('a Worker creates plants', () => {
  it.each([
    ['storages/worker-d1', ''],
    ['storages/durable-object', ''],
    ['hosts/hono-d1', '/api'],
  ])('%s', async (example, below) => {
    const worker = new Miniflare({
      modules: true,
      script: await bundled(example),
      compatibilityDate: '2025-06-01',
      port: 0,
      d1Databases: { DB: 'plants' },
      ...(example.includes('durable') && {
        durableObjects: { GARDEN: { className: 'Garden', useSQLite: true } },
      }),
      bindings: { TOKEN: 'secret' },
    });
    onTestFinished(() => worker.dispose());
    const database = await worker.getD1Database('DB');
    // The migration of the page.
    await database.prepare(schema).run();
    const url = String(await worker.ready).replace(/\/$/, '');
    await expectExactPlants(`${url}${below}`);
  });
});
