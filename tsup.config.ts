import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { build, transform } from 'esbuild';
import { defineConfig } from 'tsup';
import { openapi } from './src/document/openapi.js';

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
  openapi: 'src/document/openapi.ts',
  schema: 'src/plant/schema.ts',
  client: 'src/client/client.ts',
};

export default defineConfig({
  entry: entries,
  format: ['esm', 'cjs'],
  target: 'es2022',
  // Chunks are shared, so that a class is one class whichever subpath it comes from.
  splitting: true,
  clean: true,
  silent: true,
  // Deno, and bundlers for other platforms, know Node's modules by their whole names.
  removeNodeProtocol: false,
  // The host cases are in the package once, as JSON.
  esbuildPlugins: [
    {
      name: 'external host cases',
      setup: ({ onResolve }) =>
        onResolve({ filter: /host-cases\.json$/ }, () => ({ path: './host-cases.json', external: true })),
    },
  ],
  async onSuccess() {
    await writeFile('dist/openapi.json', `${JSON.stringify(openapi())}\n`);
    const cases = JSON.parse(await readFile('test/published/host-cases.json', 'utf8'));
    await writeFile('dist/host-cases.json', JSON.stringify(cases));
    await finishModules();
    // Node 20 warns when a module imports JSON; `require` reads it on each runtime.
    await writeFile(
      'dist/testing.js',
      `import testing from './testing.cjs';
export const hostCases = testing.hostCases;
export const storageCases = testing.storageCases;
`,
    );
    await buildProgram();
  },
});

/**
 * Names each shared chunk after its last module, which imports the others, so that a stack trace explains itself, and
 * removes doc comments.
 */
async function finishModules(): Promise<void> {
  const files = (await readdir('dist')).filter((file) => /\.c?js$/.test(file));
  const texts = await Promise.all(files.map((file) => readFile(`dist/${file}`, 'utf8')));
  const names = new Map<string, string>();
  files.forEach((file, i) => {
    if (!/^chunk-\w{8}\./.test(file)) return;
    const [, module] = [...texts[i]!.matchAll(/\/\/ (?:src|adapters|test)\/(?:.*\/)?_?([\w-]+)\.ts$/gm)].at(
      -1,
    )!;
    names.set(file, `chunk-${module}${file.slice(file.indexOf('.'))}`);
  });
  if (new Set(names.values()).size < names.size)
    throw new Error(`two chunks of one name: ${[...names.values()]}`);
  for (const [i, file] of files.entries()) {
    const text = texts[i]!.replace(/chunk-\w{8}\.c?js/g, (name) => names.get(name)!)
      // Doc comments are in the declarations; esbuild keeps those of class members here, too: 24 kB.
      .replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '')
      // The names of the modules, which have named the chunks: 6 kB.
      .replace(/^\/\/ (?:src|adapters|test)\/.*\.ts\n/gm, '');
    // Those of CommonJS without white space and in the shortest syntax, which is 67 kB: a person reads the others.
    const { code } = await transform(text, {
      minifyWhitespace: file.endsWith('.cjs'),
      minifySyntax: file.endsWith('.cjs'),
    });
    await rm(`dist/${file}`);
    await writeFile(`dist/${names.get(file) ?? file}`, code);
  }
}

/** Builds the program of `npx plant-store`: the demo server, which imports the package by its own name. */
async function buildProgram(): Promise<void> {
  const page = 'examples/server/page';
  await build({
    entryPoints: { cli: 'examples/server/server.ts' },
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    external: ['plant-store', 'plant-store/*'],
    banner: { js: '#!/usr/bin/env node' },
  });
  await build({ entryPoints: [`${page}/style.css`, `${page}/script.js`], outdir: 'dist', minify: true });
}
