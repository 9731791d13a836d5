/** The footprint of the library: memory, bytes on the wire, time to start. */
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import type { Contenders } from './contender.js';
import { names, path, plantJson, token } from './load.js';

const plantsKept = 200_000;

export const footprints: Contenders = {
  /** A name is given by its place in `names`. */
  'bytes-of-map': (name) =>
    bytesOf(async (plants) => {
      const plant = JSON.parse(receivedJson(name));
      const id = BigInt(plant.id);
      plants.set(id, { id, name: plant.name, tag: plant.tag });
    }),
  'bytes-of-storage': (name) => {
    let handle: ReturnType<typeof createPlantStore> | undefined;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return bytesOf(async (plants) => {
      handle ??= createPlantStore(memoryStorage(plants), acceptTokens(token));
      await handle({ method: 'POST', url: path, headers, body: receivedJson(name) });
    });
  },

  /** A limit, to be held against. */
  'bytes-allowed': (bytes) => ({ measured: Number(bytes) }),

  /** The core and a host with valibot, as an app bundles them. */
  async 'bytes-zipped'(core, host) {
    const contents = `
      import { createPlantStore } from './index.js';
      import { to${host} } from './${host!.toLowerCase()}.js';
      export const mount = (storage, verifyToken) => to${host}(createPlantStore(storage, verifyToken));`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: dirname(core!) },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
    });
    return { measured: gzipSync(outputFiles[0]!.contents).length };
  },

  /** As an app imports it, by its name. */
  'import-valibot': (root) => ({ measured: importTime('valibot', root!) }),
  'import-core': (file, root) => ({ measured: importTime(file!, root!) }),
};

/** A flat string, as a decoded body is, and not a tree of parts. */
function receivedJson(name = '0'): string {
  return Buffer.from(plantJson(names[Number(name)])).toString();
}

/** Bytes of memory a plant. */
async function bytesOf(create: (plants: Map<bigint, NewPlant>) => Promise<void>) {
  const plants = new Map<bigint, NewPlant>();
  await create(plants);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < plantsKept; i++) await create(plants);
  globalThis.gc?.();
  return { measured: (process.memoryUsage().heapUsed - before) / (plants.size - 1) };
}

/** Milliseconds in a process that has imported nothing before, but has its loader ready. */
function importTime(module: string, cwd: string): number {
  const program = `
    await import('data:text/javascript,');
    const start = performance.now();
    await import(${JSON.stringify(module)});
    console.log(performance.now() - start)`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd }));
}
