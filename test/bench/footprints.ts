/** What the library takes: memory, bytes on the wire, time to start. */
import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import type { Contenders } from './contender.js';
import { path, plantJson, token } from './load.js';

const plantsKept = 200_000;

export const footprints: Contenders = {
  'bytes-of-map': () =>
    bytesOf(async (plants) => {
      const { id, name, tag } = JSON.parse(plantJson());
      plants.set(BigInt(id), { id: BigInt(id), name, tag });
    }),
  'bytes-of-storage': () => {
    let handle: ReturnType<typeof createPlantStore> | undefined;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return bytesOf(async (plants) => {
      handle ??= createPlantStore(memoryStorage(plants), acceptTokens(token));
      await handle({ method: 'POST', url: path, headers, body: plantJson() });
    });
  },

  /** A limit, to be held against. */
  'bytes-allowed': (bytes) => ({ measured: Number(bytes) }),

  /** The core and `toNode` with valibot, as an app bundles them. */
  async 'bytes-zipped'(root) {
    const contents = `export { createPlantStore, acceptTokens } from './src/index.js';
      export { toNode } from './adapters/hosts/node.js';`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: root! },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'node',
      target: 'es2022',
    });
    return { measured: gzipSync(outputFiles[0]!.contents, { level: 9 }).length };
  },

  /** Milliseconds in a process that has loaded nothing before. */
  'import-valibot': () => ({ measured: importTime(import.meta.resolve('valibot')) }),
  'import-core': (file) => ({ measured: importTime(file!) }),
};

/** Bytes of memory that a plant takes. */
async function bytesOf(create: (plants: Map<bigint, NewPlant>) => Promise<void>) {
  const plants = new Map<bigint, NewPlant>();
  await create(plants);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < plantsKept; i++) await create(plants);
  globalThis.gc?.();
  return { measured: (process.memoryUsage().heapUsed - before) / (plants.size - 1) };
}

function importTime(module: string): number {
  const program = `const start = performance.now(); await import(${JSON.stringify(module)}); console.log(performance.now() - start)`;
  const flags = ['--input-type=module', '-e', program];
  return Number(execFileSync(process.execPath, flags));
}
