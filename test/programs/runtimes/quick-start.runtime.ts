// README.md by paste: the tarball in an empty directory, on each version of Node. The client also on Bun, Deno and workerd.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createPlant } from '../../support/plants.js';
import {
  freePort,
  type Program,
  paste,
  portOf,
  startProgram,
  untilTestEnds,
  urlOf,
} from '../../support/program.js';
import { root } from '../../support/root.js';
import { startOn, stop, tool } from './runtimes.js';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const [server = '', client = ''] = [
  /```js\n([\s\S]*?)```/,
  /```ts\n(import \{ createPlantClient[\s\S]*?)```/,
].map((block) => block.exec(readme)?.[1]);
const [install = ''] = /^npm install .*$/m.exec(readme) ?? [];
const [curl = ''] = /^curl .*$/m.exec(readme) ?? [];
const nodes = [
  ['of this process', process.execPath],
  ...['20.0', '22', '24', '26'].map((version) => [version, tool(`node${version}/bin/node`)] as const),
] as const;
let folder: string;

function start(command: readonly string[], env: Record<string, string>): Program {
  return untilTestEnds(startProgram(command, env, folder));
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plant-store-quick-start-'));
  const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, encoding: 'utf8' });
  // The setup of these tests has built dist/.
  const [packed] = JSON.parse(npm(root, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder));
  writeFileSync(join(folder, 'package.json'), '{}');
  const [, , ...names] = install.split(' ');
  const packages = names.map((name) => (name === 'plant-store' ? `./${packed.filename}` : name));
  npm(folder, 'install', '--no-audit', '--no-fund', '--prefer-offline', ...packages);
  writeFileSync(join(folder, 'server.mjs'), server);
  writeFileSync(join(folder, 'client.mjs'), client);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(nodes)('on Node %s', (version, node) => {
  test('the quick start of README.md returns what README.md shows, to curl and to the client', async () => {
    const port = await freePort();
    const program = start([node!, 'server.mjs'], { PORT: String(port) });
    await program.printed(/^Listening on .*\n$/);
    expect(await paste(curl.replace(':3000', `:${port}`))).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n\{"name":"Rosa canina"\}$/,
    );
    for (const runtime of [[node!], [tool('bun/bin/bun.exe')], [tool('.bin/deno'), 'run', '--allow-all']]) {
      const created = start([...runtime, 'client.mjs'], { URL: `http://127.0.0.1:${port}/api` });
      expect(await created.exit).not.toBe(0);
      expect(created.output()).toContain('A plant with id 9007199254740993 exists.');
    }
  });

  test('npx plant-store serves its page and stores plants', async () => {
    const program = start([node!, 'node_modules/plant-store/dist/cli.js'], { PORT: '0', DATABASE_URL: '' });
    const url = await urlOf(program);
    expect(await (await fetch(url)).text()).toContain('<form id="create"');
    const { status } = await createPlant(url, `{"id":${Date.now()},"name":"Ilex"}`, 'for-evaluation-only');
    expect(status).toBe(200);
    program.child.kill('SIGINT');
    expect(await program.exit).toBe(0);
    // Without a driver nearby, Node 20 has no SQLite.
    const isStored = /Storage {3}\/.*plants\.db\n/.test(program.output());
    expect(existsSync(join(folder, 'plants.db'))).toBe(isStored);
    expect(program.output()).not.toMatch(/warning/i);
    if (Number.parseInt(version!, 10) >= 22) expect(isStored).toBe(true);
    rmSync(join(folder, 'plants.db'), { force: true });
  });
});

test('on workerd, the client creates plants with exact ids and reports what failed', async () => {
  const port = await portOf(start([process.execPath, 'server.mjs'], { PORT: String(await freePort()) }));
  const worker = join(folder, 'client-worker.mjs');
  await build({
    stdin: {
      contents: `
        import { createPlantClient, PlantError } from 'plant-store/client';
        const client = createPlantClient('http://127.0.0.1:${port}/api', { token: 'secret' });
        const create = async (id) => {
          try {
            return await client.create({ id, name: 'Rosa canina' });
          } catch (error) {
            return error instanceof PlantError ? { ...error } : String(error);
          }
        };
        const ids = [9007199254740992n, 9007199254740993n, 9007199254740993n, 2 ** 53];
        export default { fetch: async () => Response.json(await Promise.all(ids.map(create))) };`,
      resolveDir: folder,
    },
    outfile: worker,
    bundle: true,
    format: 'esm',
  });
  // Miniflare 4 does not run on Node 20.
  const program = await startOn('node22', 'test/programs/runtimes/miniflare.ts', worker);
  onTestFinished(() => stop(program));
  const created = { name: 'Rosa canina' };
  const outcomes = (await (await fetch(await urlOf(program))).json()) as unknown[];
  expect(outcomes).toHaveLength(4);
  expect(outcomes).toEqual([
    created,
    expect.anything(),
    expect.anything(),
    'TypeError: id must be a bigint or a safe integer, got 9007199254740992',
  ]);
  const same = outcomes.slice(1, 3);
  expect(same).toContainEqual(created);
  expect(same).toContainEqual(
    expect.objectContaining({ status: 400, error: 40003, problem: 'id_taken', stored: 'no' }),
  );
});
