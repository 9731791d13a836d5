// The clients that hey-api and orval generate, with the lines of examples/README.md that make their ids exact. The
// generators need Node 22; both are installed in a temporary folder, because nothing else needs them.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { openapi } from 'plant-store/openapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../support/root.js';
import { listen } from '../support/sockets.js';

const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const packages = [
  `node22@npm:node-${platform}@22.23.3`,
  '@hey-api/openapi-ts@0.99.0',
  'orval@8.38.0',
  'typescript@5.9.3',
];
const folder = mkdtempSync(join(tmpdir(), 'plant-store-generators-'));
const node = join(folder, 'node_modules/node22/bin/node');
const plants = new Map<bigint, NewPlant>();
let server: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  server = await listen(
    createServer(toNode(createPlantStore(memoryStorage(plants), acceptTokens('secret')))),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openapi()));
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--no-save'];
  // The package of Node places its program in an install script.
  execFileSync('npm', ['install', '--prefix', folder, ...quiet, '--ignore-scripts=false', ...packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}, 300_000);
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The line of this section of examples/README.md. */
function lineOf(section: string): string {
  const page = readFileSync(join(root, 'examples/README.md'), 'utf8');
  return new RegExp(`### ${section}\n[^#]*?\`\`\`js\n(.*)\n\`\`\``).exec(page)![1]!;
}

/** Runs a generator of `node_modules` with a configuration. */
function generate(program: string, flag: string, configuration: object): void {
  const file = join(folder, `${flag.replaceAll('-', '')}.config.mjs`);
  writeFileSync(file, `export default ${JSON.stringify(configuration)};`);
  execFileSync(node, [join(folder, 'node_modules', program), flag, file], { cwd: folder, stdio: 'pipe' });
}

/** Runs a program against the server, and returns what it prints. */
async function run(code: string): Promise<string> {
  const outfile = join(folder, 'program.mjs');
  await build({
    stdin: { contents: code, resolveDir: folder, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  const { stdout } = await promisify(execFile)(node, [outfile]);
  return stdout;
}

describe('hey-api', () => {
  const program = (line: string) => `
    import { client } from './hey/client.gen';
    import { createPlant } from './hey/sdk.gen';
    client.setConfig({ baseUrl: '${server.url}', headers: { authorization: 'Bearer secret' } });
    ${line}
    const { data, error } = await createPlant({ body: { id: 9007199254740993n, name: 'Ilex', tag: 'tree' } });
    console.log(JSON.stringify(data ?? error));`;

  beforeAll(() =>
    generate('@hey-api/openapi-ts/bin/run.js', '-f', {
      input: './openapi.json',
      output: './hey',
      plugins: ['@hey-api/client-fetch', '@hey-api/sdk', { name: '@hey-api/transformers', bigInt: true }],
    }),
  );

  it('sends an id beyond 2^53 exactly with the line of the page', async () => {
    plants.clear();
    expect(JSON.parse(await run(program(lineOf('hey-api'))))).toEqual({ name: 'Ilex', tag: 'tree' });
    expect([...plants.keys()]).toEqual([9007199254740993n]);
  });

  it('sends it as a string without the line, which is a 400', async () => {
    expect(JSON.parse(await run(program('')))).toMatchObject({ error: 40002 });
  });
});

describe('orval', () => {
  const program = (line: string) => `
    import { createPlant } from './orval/plants';
    ${line}
    const plant = { id: 9007199254740993n, name: 'Ilex', tag: 'tree' };
    const { data } = await createPlant(plant, { headers: { authorization: 'Bearer secret' } });
    console.log(JSON.stringify(data));`;

  beforeAll(() =>
    generate('orval/dist/bin/orval.mjs', '--config', {
      plants: {
        input: './openapi.json',
        output: {
          target: './orval/plants.ts',
          client: 'fetch',
          baseUrl: server.url,
          override: { useBigInt: true },
        },
      },
    }),
  );

  it('sends an id beyond 2^53 exactly with the line of the page', async () => {
    plants.clear();
    expect(JSON.parse(await run(program(lineOf('orval'))))).toEqual({ name: 'Ilex', tag: 'tree' });
    expect([...plants.keys()]).toEqual([9007199254740993n]);
  });

  it('throws without the line', async () => {
    await expect(run(program(''))).rejects.toThrow('Do not know how to serialize a BigInt');
  });
});
