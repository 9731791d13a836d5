import { copyFile, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { defineConfig } from 'tsup';
import { openapi } from './src/openapi.js';

/** Every subpath of the package and its source; a test holds `exports` in package.json against it. */
export const entries = {
  index: 'src/index.ts',
  node: 'adapters/hosts/node.ts',
  express: 'adapters/hosts/express.ts',
  koa: 'adapters/hosts/koa.ts',
  fastify: 'adapters/hosts/fastify.ts',
  fetch: 'adapters/hosts/fetch.ts',
  memory: 'adapters/storages/memory.ts',
  sqlite: 'adapters/storages/sqlite.ts',
  postgres: 'adapters/storages/postgres.ts',
  mysql: 'adapters/storages/mysql.ts',
  testing: 'test/published/index.ts',
  openapi: 'src/openapi.ts',
  schema: 'src/schema.ts',
  client: 'src/client.ts',
};

export default defineConfig({
  entry: entries,
  format: ['esm', 'cjs'],
  target: 'es2022',
  dts: true,
  // Chunks are shared, so that a class is one class whichever subpath it comes from.
  splitting: true,
  clean: true,
  silent: true,
  async onSuccess() {
    await writeFile('dist/openapi.json', `${JSON.stringify(openapi(), null, 2)}\n`);
    await copyFile('test/published/host-cases.json', 'dist/host-cases.json');
    await buildProgram();
  },
});

/** Builds the program of `npx plant-store`: the demo server, which imports the package by its own name. */
async function buildProgram(): Promise<void> {
  await build({
    entryPoints: ['examples/server/server.ts'],
    outfile: 'dist/cli.js',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['plant-store', 'plant-store/*'],
    banner: { js: '#!/usr/bin/env node' },
  });
  for (const name of ['style.css', 'script.js'])
    await copyFile(`examples/server/page/${name}`, `dist/${name}`);
}
