// The Workers of `examples/`, and the one that `init` prints, in workerd.
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { schema as postgresSchema } from 'plant-store/postgres';
import { schema } from 'plant-store/sqlite';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ownServer } from '../storages/postgres-server.js';
import { Doorway } from '../support/doorway.js';
import { load } from '../support/installed.js';
import { expectExactPlants } from '../support/plants.js';
import { root } from '../support/root.js';

const { Miniflare } = await load('miniflare');

/** As wrangler bundles it: a package by its condition `workerd`, and the modules of Node that `pg` requires from the runtime. */
async function bundled(entry: { readonly file: string } | { readonly contents: string }): Promise<string> {
  const modules = builtinModules.filter((name) => !name.startsWith('_')).join('|');
  const { outputFiles } = await build({
    ...('file' in entry
      ? { entryPoints: [join(root, `examples/${entry.file}.ts`)] }
      : { stdin: { contents: entry.contents, resolveDir: root, loader: 'ts' as const } }),
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['workerd'],
    external: ['cloudflare:*', 'pg-native'],
    tsconfig: join(root, 'tsconfig.json'),
    plugins: [
      {
        name: 'modules of Node',
        setup({ onLoad, onResolve }) {
          onResolve({ filter: new RegExp(`^(node:)?(${modules})$`) }, ({ path }) => ({
            path: path.replace('node:', ''),
            namespace: 'node',
          }));
          onLoad({ filter: /./, namespace: 'node' }, ({ path }) => ({
            contents: `module.exports = process.getBuiltinModule('node:${path}')`,
          }));
        },
      },
    ],
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
      script: await bundled({ file: example }),
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

describe('a Worker with a pg Pool', () => {
  const own = ownServer();
  let DATABASE_URL: string;
  beforeAll(async () => {
    await own.pool.query(postgresSchema);
    const doorway = await Doorway.before({ path: own.server.socket });
    DATABASE_URL = `postgres://postgres@127.0.0.1:${doorway.port}/postgres`;
    return () => doorway.close();
  });

  async function open(script: string): Promise<string> {
    const worker = new Miniflare({
      modules: true,
      script,
      compatibilityDate: '2025-06-01',
      compatibilityFlags: ['nodejs_compat'],
      port: 0,
      bindings: { DATABASE_URL, TOKEN: 'secret' },
    });
    onTestFinished(() => worker.dispose());
    return String(await worker.ready).replace(/\/$/, '');
  }

  const post = (url: string, id: number) =>
    fetch(`${url}/plants`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: JSON.stringify({ id, name: 'Rosa' }),
    });

  it('for each request, as the example has it: every plant is created, also of many at once', async () => {
    const url = await open(await bundled({ file: 'storages/worker-postgres' }));
    await expectExactPlants(url);
    const responses = await Promise.all(Array.from({ length: 25 }, (_, id) => post(url, id)));
    expect(responses.map(({ status }) => status)).toEqual(Array(25).fill(200));
  });

  it('for all requests: is told to make one for each', async () => {
    const url = await open(
      await bundled({
        contents: `import pg from 'pg';
          import { acceptTokens, createPlantStore } from 'plant-store';
          import { toFetch } from 'plant-store/fetch';
          import { postgresStorage } from 'plant-store/postgres';
          const told = [];
          const onError = (error) => void told.push(error.message, Object(error.cause).message);
          let pool;
          export default {
            fetch(request, { DATABASE_URL }) {
              if (request.method === 'GET') return new Response(JSON.stringify(told));
              const limits = { max: 2, connectionTimeoutMillis: 1_000, statement_timeout: 1_000 };
              pool ??= new pg.Pool({ connectionString: DATABASE_URL, ...limits });
              const storage = postgresStorage(pool, { timeoutMs: 3_000 });
              return toFetch(createPlantStore(storage, acceptTokens('secret'), { onError }))(request);
            },
          };`,
      }),
    );
    await Promise.all(Array.from({ length: 25 }, (_, id) => post(url, 100 + id)));
    const told = await (await fetch(url)).text();
    expect(told).toContain('waiting. On Workers, make a pool for each request');
  });
});
