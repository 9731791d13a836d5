// `plant-store init`: what it prints is what the examples are, and runs on the database that was chosen.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { transformSync } from 'esbuild';
import Database from 'libsql';
import pg from 'pg';
import { schema as mysqlSchema } from 'plant-store/mysql';
import { schema as postgresSchema } from 'plant-store/postgres';
import { schema as sqliteSchema, sqliteStorage } from 'plant-store/sqlite';
import ts from 'typescript';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { filesOf, nextSteps, writeNew } from '../../examples/server/init.js';
import { filesOfPage } from '../../examples/server/stacks.js';
import { compilerOptions } from '../support/compiler.js';
import { initProgram } from '../support/init-program.js';
import { expectExactPlants, rose } from '../support/plants.js';
import { PostgresServer } from '../support/postgres.js';
import { freePort, portOf } from '../support/program.js';
import { root } from '../support/root.js';
import { newFolder } from '../support/run-folder.js';
import { listen } from '../support/sockets.js';
import { startDemo } from './demo.js';

const example = (name: string) => readFileSync(join(root, 'examples', `${name}.ts`), 'utf8');
const hosts = ['express', 'koa', 'fastify', 'hono', 'next', 'node'] as const;

/** Runs the command in a folder. */
const run = (args: readonly string[], folder = newFolder()) => startDemo(['init', ...args], {}, folder);

/** Starts a program, and creates plants through it. */
type Start = ReturnType<typeof initProgram>['start'];
async function createThrough(start: Start, host: string, env: Record<string, string>) {
  const port = await freePort();
  // Express's program prints the port that it was given, so it is given a free one.
  expect(await portOf(start({ ...env, PORT: String(port) }))).toBe(port);
  await expectExactPlants(`http://127.0.0.1:${port}${host === 'node' ? '' : '/api'}`);
}

/** Each program says how to see what an error says. */
const ofDevelopment =
  "// While you develop, the options { onError: logWithMessages } of createPlantStore, from 'plant-store', print each error.";

describe('plant-store init', () => {
  it.each([...hosts, 'nest', 'sveltekit'])(
    '%s is the example of the host, with the packages that it needs',
    (host) => {
      const files = filesOf({ host, database: undefined }, newFolder());
      const file = { next: 'next-route', nest: 'nest-plants', node: 'node-http' }[host as string] ?? host;
      const text = example(`hosts/${file}`)
        .replace(/^\/\/ (app|src).*\n/, '')
        // In the folder of an app in JavaScript.
        .replace('{ request }: { request: Request }', '{ request }')
        .replace('error?: Error', 'error');
      expect(Object.values(files)).toEqual([`${ofDevelopment}\n${text}`]);
      const steps = nextSteps(files, { host, database: undefined });
      const [, packages = ''] = /npm install (.*)/.exec(steps) ?? [];
      for (const [, name] of text.matchAll(/ from '((?:@\w+\/)?[\w-]+)[/']/g))
        expect(packages.split(' ')).toContain(name);
      expect(steps).toContain('lost on exit');
    },
  );

  it('prints the files, and what to do with them', async () => {
    const program = run(['koa', '--database', 'sqlite']);
    expect(await program.exit).toBe(0);
    const files = filesOf({ host: 'koa', database: 'sqlite' }, newFolder());
    for (const text of Object.values(files)) expect(program.output()).toContain(`\n${text}\n`);
    expect(program.output()).toContain(nextSteps(files, { host: 'koa', database: 'sqlite' }));
  });

  it.each([
    ['postgres', 'init/postgres-storage', postgresSchema],
    ['mysql', 'init/mysql-storage', mysqlSchema],
    ['sqlite', 'init/sqlite-storage', sqliteSchema],
    ['turso', 'init/turso-storage', sqliteSchema],
  ])('--database %s prints the lines of %s, and the migration', (database, name, schema) => {
    const { 'server.mjs': program, 'plants.sql': sql } = filesOf({ host: 'koa', database }, newFolder());
    for (const line of example(name).replace('export const', 'const').split('\n'))
      expect(program?.split('\n')).toContain(line);
    expect(program).not.toContain('memory');
    expect(sql).toBe(`${schema}\n`);
  });

  it('--database sqlite and turso print a migration whose table passes check()', async () => {
    const { 'plants.sql': sql = '' } = filesOf({ host: 'sveltekit', database: 'turso' }, newFolder());
    const database = new Database(':memory:');
    database.exec(sql);
    await sqliteStorage(database).check();
  });

  it('next --database d1 prints hosts/next-d1, for wrangler', () => {
    const options = { host: 'next', database: 'd1' };
    const files = filesOf(options, newFolder());
    const program = example('hosts/next-d1').replace(/^\/\/ .*\n/, '');
    expect(files).toEqual({
      'app/api/plants/route.js': `${ofDevelopment}\n${program}`,
      'plants.sql': `${sqliteSchema}\n`,
    });
    const steps = nextSteps(files, options);
    expect(steps).toContain('  npx wrangler d1 execute DB --remote --file plants.sql\n');
    expect(steps).not.toContain('cloudflare:workers');
  });

  it.each([
    ['express', 'postgres', 'express-postgres', 'server.js'],
    ['fastify', 'mysql', 'fastify-mysql', 'src/server.ts'],
    ['hono', 'd1', 'hono-workers', 'src/index.ts'],
    ['next', 'turso', 'next-turso', 'app/api/plants/route.ts'],
    ['nest', 'postgres', 'nest-typeorm', 'src/nest.ts'],
    ['sveltekit', 'sqlite', 'sveltekit-sqlite', 'src/routes/api/plants/+server.ts'],
    ['hono', 'durable-object', 'hono-durable-objects', 'src/worker.ts'],
    ['bun', 'sqlite', 'bun-deno-sqlite', 'server.ts'],
  ])('%s --database %s is the app of the page %s', (host, database, page, file) => {
    const path = `examples/stacks/${page}.md`;
    const files = filesOf({ host, database }, newFolder());
    expect(files).toMatchObject(filesOfPage(readFileSync(join(root, path), 'utf8')));
    expect(files[file]).toMatch(/\w/);
    // A sentence that ends in a name and a colon would make a file of the block below it.
    for (const name of Object.keys(files)) expect(name).toMatch(/^[\w./[\]+()-]+\.\w+$/);
    expect(Object.values(files)).not.toContain(undefined);
    expect(nextSteps(files, { host, database })).toContain(`node_modules/plant-store/${path}`);
  });

  it('deno --database sqlite is that of the page for Bun and Deno, in the words of Deno', () => {
    const files = filesOf({ host: 'deno', database: 'sqlite' }, newFolder());
    expect(Object.keys(files)).toEqual(
      Object.keys(filesOf({ host: 'bun', database: 'sqlite' }, newFolder())),
    );
    expect(files['server.ts']).toContain("from 'node:sqlite'");
    expect(files['server.ts']).toContain('Deno.serve({ port }, app.fetch)');
    expect(files['app.test.ts']).toContain('const { test } = Deno;');
    expect(Object.values(files).join('\n')).not.toMatch(/\bbun\b/i);
  });

  it('hono --database durable-object has the whole app, also what its page takes from the one for D1', () => {
    const files = filesOf({ host: 'hono', database: 'durable-object' }, newFolder());
    const d1 = filesOf({ host: 'hono', database: 'd1' }, newFolder());
    expect(files).toEqual({
      ...d1,
      'src/worker.ts': expect.stringContaining('Garden'),
      'src/plants.ts': expect.stringContaining('class Garden'),
      'wrangler.jsonc': expect.stringContaining('"GARDEN"'),
    });
  });

  it.each([
    [undefined, 'hosts/worker'],
    ['d1', 'storages/worker-d1'],
    ['postgres', 'storages/worker-postgres'],
  ])('worker --database %s prints %s, which wrangler builds', (database, name) => {
    const { 'src/index.ts': program } = filesOf({ host: 'worker', database }, newFolder());
    const [text] = example(name).match(/^import [\s\S]*/m)!;
    expect(program).toBe(`${ofDevelopment}\n${text}`);
  });

  it('express compiles with the types of Express 4, as `tsc` compiles the example with those of Express 5', () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    writeNew(filesOf({ host: 'express', database: undefined }, folder), folder);
    const paths = { ...compilerOptions.paths, express: [join(root, 'node_modules/@types/express4')] };
    const file = join(folder, 'server.ts');
    const program = ts.createProgram([file], { ...compilerOptions, paths, baseUrl: root });
    const faults = ts.getPreEmitDiagnostics(program, program.getSourceFile(file));
    expect(faults.map(({ messageText }) => messageText)).toEqual([]);
  });

  it.each([
    ['next', 'sqlite'],
    ['sveltekit', 'turso'],
  ])('%s in JavaScript has no types', (host, database) => {
    const [program] = Object.values(filesOf({ host, database }, newFolder()));
    expect(transformSync(program!, { loader: 'js' }).code).toContain('createPlantStore');
  });

  it.each(['', 'plants.db', '/app/.next/plants.db', '/app/build/plants.db'])(
    'express on SQLite does not start with DATABASE=%s, which another folder or the next build loses',
    async (DATABASE) => {
      const program = initProgram({ host: 'express', database: 'sqlite' }).start({ DATABASE });
      expect(await program.exit).toBe(1);
      expect(program.output()).toContain(
        'Error: DATABASE must be the absolute path of a file outside the folders of a build.',
      );
    },
  );

  it.each(['', 'plants.db', '/app/.next/plants.db', '/app/build/plants.db'])(
    'next on SQLite creates no plant with DATABASE=%s, and says what to set',
    async (path) => {
      vi.stubEnv('DATABASE', path);
      const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
      onTestFinished(() => {
        vi.unstubAllEnvs();
        logged.mockRestore();
      });
      const { POST } = await import(initProgram({ host: 'next', database: 'sqlite' }).bundle());
      const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
      const request = new Request('http://localhost', { method: 'POST', headers, body: rose });
      expect(await POST(request)).toMatchObject({ status: 503 });
      expect(String(logged.mock.calls)).toContain('DATABASE must be the absolute path of a file');
    },
  );

  it.each(hosts)('%s creates plants on SQLite once its migration has run', async (host) => {
    const { folder, sql, bundle, start } = initProgram({ host, database: 'sqlite' });
    const DATABASE = join(folder, 'plants.db');
    const database = new Database(DATABASE);
    onTestFinished(() => void database.close());
    database.exec(sql);
    if (host === 'next') {
      process.env.DATABASE = DATABASE;
      const { POST } = await import(bundle());
      const listener = getRequestListener(POST, { overrideGlobalObjects: false });
      const { url, close } = await listen(createServer(listener));
      onTestFinished(close);
      await expectExactPlants(`${url}/api`);
    } else await createThrough(start, host, { DATABASE });
    expect(database.prepare('SELECT count(*) AS n FROM plants').get()).not.toEqual({ n: 0 });
  });

  it('koa creates plants on PostgreSQL once its migration has run', async () => {
    const server = await PostgresServer.start();
    onTestFinished(() => server.close());
    const { sql, start } = initProgram({ host: 'koa', database: 'postgres' });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(sql);
    await client.end();
    await createThrough(start, 'koa', { DATABASE_URL: server.url });
  });

  it('follows the language and the layout of the app', () => {
    const folder = newFolder();
    const files = (host: string) => Object.keys(filesOf({ host, database: 'mysql' }, folder));
    expect([files('koa'), files('next')]).toEqual([
      ['server.mjs', 'plants.sql'],
      ['app/api/plants/route.js', 'plants.sql'],
    ]);
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    mkdirSync(join(folder, 'src/app'), { recursive: true });
    expect([files('koa'), files('next')]).toEqual([
      ['server.ts', 'plants.sql'],
      ['src/app/api/plants/route.ts', 'plants.sql'],
    ]);
  });

  it('names the packages of types that a TypeScript app needs, and none to an app in JavaScript', () => {
    const folder = newFolder();
    const steps = (host: string, database: string) =>
      nextSteps(filesOf({ host, database }, folder), { host, database });
    expect(steps('koa', 'postgres')).not.toContain('@types');
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    expect(steps('koa', 'postgres')).toContain(
      '\n  npm install --save-dev @types/koa @types/koa-mount @types/pg\n',
    );
    expect(steps('hono', 'mysql')).not.toContain('@types');
  });

  it('tells a Nest app what to mount, and a Next app what a serverless host keeps', () => {
    const steps = (host: string, database?: string) =>
      nextSteps(filesOf({ host, database }, newFolder()), { host, database });
    expect(steps('nest', 'mysql')).toContain("app.use('/api', toExpress(app.get(PlantsService).handle));");
    expect(steps('nest')).not.toContain('acceptTokens');
    expect(steps('next')).toContain('keeps neither memory nor files');
    expect(steps('next', 'sqlite')).toContain('keeps neither memory nor files');
    expect(steps('next', 'postgres')).not.toContain('keeps neither');
    expect(steps('next', 'postgres')).toContain('next build loads the route');
    expect(steps('express', 'sqlite')).not.toMatch(/serverless|next build/);
    expect(steps('sveltekit', 'turso')).toMatch(/vite build loads.*BODY_SIZE_LIMIT/s);
    expect(steps('sveltekit', 'turso')).not.toContain('tsx');
    for (const host of ['express', 'next'])
      expect(steps(host, 'sqlite')).toMatch(
        /export DATABASE="\$HOME\/plants\.db".*in a container on a volume/s,
      );
  });

  it('--write writes the files, and never over one that exists', async () => {
    const folder = newFolder();
    const args = ['node', '--database', 'postgres', '--write'];
    writeFileSync(join(folder, 'plants.sql'), 'mine');
    const written = run(args, folder);
    expect(await written.exit).toBe(0);
    expect(written.output()).toMatch(/^wrote server\.mjs\nleft plants\.sql as it is\n/);
    const expected = filesOf({ host: 'node', database: 'postgres' }, newFolder());
    expect(readFileSync(join(folder, 'server.mjs'), 'utf8')).toBe(expected['server.mjs']);
    expect(readFileSync(join(folder, 'plants.sql'), 'utf8')).toBe('mine');
  });

  it.each([
    [
      { host: undefined },
      'init requires one of express, koa, fastify, hono, next, sveltekit, nest, node, worker, bun, deno, got nothing',
    ],
    [
      { host: 'rails' },
      'init requires one of express, koa, fastify, hono, next, sveltekit, nest, node, worker, bun, deno, got "rails"',
    ],
    [{ host: 'koa', database: 'd1' }, '--database d1 requires hono, next or worker, got koa'],
    [{ host: 'deno', database: 'postgres' }, 'deno requires --database sqlite'],
    [{ host: 'bun' }, 'bun requires --database sqlite'],
    [{ host: 'koa', database: 'durable-object' }, '--database durable-object requires hono, got koa'],
    [{ host: 'worker', database: 'mysql' }, 'worker requires --database d1 or postgres, got mysql'],
    [
      { host: 'koa', database: 'oracle' },
      '--database must be one of postgres, mysql, sqlite, turso, d1, got "oracle"',
    ],
  ])('rejects %j', (options, line) => {
    expect(() => filesOf({ database: undefined, ...options }, newFolder())).toThrow(new Error(line));
  });
});
