// The clients that hey-api and orval generate, with the lines of examples/README.md that make their ids exact. The generators
// need Node 22.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { openapi } from 'plant-store/openapi';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startProgram } from '../../support/program.js';
import { root } from '../../support/root.js';
import { listen, type Running } from '../../support/sockets.js';
import { tool } from './runtimes.js';

const folder = inject('runtimes');
const node = tool('node22/bin/node');

interface Generator {
  readonly command: readonly [file: string, flag: string];
  readonly configuration: (baseUrl: string) => object;
  /** Creates a plant with this line of the page. */
  readonly program: (line: string, baseUrl: string) => string;
  /** What the program prints without the line. */
  readonly without: RegExp;
}

const plant = "{ id: 9007199254740993n, name: 'Ilex', tag: 'tree' }";
const input = './openapi.json';
const generators: Record<string, Generator> = {
  'hey-api': {
    command: ['@hey-api/openapi-ts/bin/run.js', '-f'],
    configuration: () => ({
      input,
      output: './hey',
      plugins: ['@hey-api/client-fetch', '@hey-api/sdk', { name: '@hey-api/transformers', bigInt: true }],
    }),
    program: (line, baseUrl) => `
      import { client } from './hey/client.gen';
      import { createPlant } from './hey/sdk.gen';
      client.setConfig({ baseUrl: '${baseUrl}', headers: { authorization: 'Bearer secret' } });
      ${line}
      const { data, error } = await createPlant({ body: ${plant} });
      console.log(JSON.stringify(data ?? error));`,
    // It sends the id as a string.
    without: /"error":40002/,
  },
  orval: {
    command: ['orval/dist/bin/orval.mjs', '--config'],
    configuration: (baseUrl) => {
      const output = { target: './orval/plants.ts', client: 'fetch', baseUrl, override: { useBigInt: true } };
      return { plants: { input, output } };
    },
    program: (line) => `
      import { createPlant } from './orval/plants';
      ${line}
      const { data } = await createPlant(${plant}, { headers: { authorization: 'Bearer secret' } });
      console.log(JSON.stringify(data));`,
    without: /Do not know how to serialize a BigInt/,
  },
};

/** The line of this section of examples/README.md. */
function lineOf(section: string): string {
  const page = readFileSync(join(root, 'examples/README.md'), 'utf8');
  return new RegExp(`### ${section}\n[^#]*?\`\`\`js\n(.*)\n\`\`\``).exec(page)![1]!;
}

describe.each(Object.entries(generators))('%s', (name, { command, configuration, program, without }) => {
  const plants = new Map<bigint, NewPlant>();
  let server: Running;
  beforeAll(async () => {
    const handle = createPlantStore(memoryStorage(plants), acceptTokens('secret'));
    server = await listen(createServer(toNode(handle)));
    writeFileSync(join(folder, input), JSON.stringify(openapi()));
    const file = join(folder, `${name}.config.mjs`);
    writeFileSync(file, `export default ${JSON.stringify(configuration(server.url))};`);
    const [generator, flag] = command;
    execFileSync(node, [tool(generator), flag, file], { cwd: folder, stdio: 'pipe' });
  });
  afterAll(() => server.close());

  /** Runs the program with this line against the server, and returns what it prints. */
  async function run(line: string): Promise<string> {
    const outfile = join(folder, `${name}.mjs`);
    const stdin = { contents: program(line, server.url), resolveDir: folder, loader: 'ts' } as const;
    await build({ stdin, outfile, bundle: true, platform: 'node', format: 'esm' });
    const { exit, output } = startProgram([node, outfile]);
    await exit;
    return output();
  }

  it('sends an id beyond 2^53 exactly with the line of the page', async () => {
    expect(JSON.parse(await run(lineOf(name)))).toEqual({ name: 'Ilex', tag: 'tree' });
    expect([...plants.keys()]).toEqual([9007199254740993n]);
  });

  it(`fails without the line: ${without}`, async () => expect(await run('')).toMatch(without));
});
