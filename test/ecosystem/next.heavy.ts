// Next, built and started: the route, and the Server Action with its form, as a browser without JavaScript sends it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ecosystemFolder } from '../support/installed.js';
import { createPlant, expectExactPlants } from '../support/plants.js';
import { type Program, startProgram, urlOf } from '../support/program.js';
import { root } from '../support/root.js';

let folder: string;
let app: Program;
let url: string;

/** Copies a program of examples/hosts into the app, under the name that Next has for it. */
function copy(name: string, path: string, ...imported: [from: string, to: string][]): void {
  let text = readFileSync(join(root, 'examples/hosts', name), 'utf8');
  for (const [from, to] of imported) text = text.replace(`'${from}'`, `'${to}'`);
  write(path, text);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const next = (...args: string[]) =>
  startProgram(
    [process.execPath, join(folder, 'node_modules/next/dist/bin/next'), ...args],
    { NEXT_TELEMETRY_DISABLED: '1' },
    folder,
  );

/** The package as Next resolves it: the sources, bundled by subpath. */
async function installPlantStore(): Promise<void> {
  const subpaths = {
    index: 'src/index.ts',
    fetch: 'adapters/hosts/fetch.ts',
    memory: 'adapters/storages/memory.ts',
    client: 'src/client/client.ts',
    schema: 'src/plant/schema.ts',
  };
  const home = join(folder, 'node_modules/plant-store');
  await build({
    entryPoints: subpaths,
    absWorkingDir: root,
    outdir: home,
    bundle: true,
    splitting: true,
    format: 'esm',
  });
  const exports = { '.': './index.js', './*': './*.js' };
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'plant-store', type: 'module', exports }));
}

beforeAll(async () => {
  folder = mkdtempSync(join(ecosystemFolder(), 'next-'));
  const packages = join(ecosystemFolder(), 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['next', 'react', 'react-dom'])
    symlinkSync(join(packages, name), join(folder, 'node_modules', name));
  await installPlantStore();
  write('package.json', '{"private":true}');
  write(
    'next.config.js',
    `module.exports = { turbopack: { root: ${JSON.stringify(ecosystemFolder())} }, typescript: { ignoreBuildErrors: true } };`,
  );
  copy('next-route.ts', 'app/api/plants/route.ts');
  copy('next-action.ts', 'app/plants/actions.ts', ['./next-route.js', '../api/plants/route']);
  copy('next-form.tsx', 'app/plants/form.tsx', ['./next-action.js', './actions']);
  write('app/plants/page.tsx', "import { PlantForm } from './form';\nexport default () => <PlantForm />;\n");
  write(
    'app/layout.tsx',
    'export default ({ children }: any) => <html lang="en"><body>{children}</body></html>;\n',
  );
  const built = next('build');
  expect(await built.exit, built.output()).toBe(0);
  app = next('start', '-p', '0');
  url = await urlOf(app);
}, 240_000);

afterAll(async () => {
  app?.child.kill('SIGTERM');
  await app?.exit;
  rmSync(folder, { recursive: true, force: true });
});

it('the route creates plants with exact ids, and refuses a wrong token', async () => {
  await expectExactPlants(`${url}/api`);
  expect(await createPlant(`${url}/api`, '{"id":1,"name":"Ilex"}', 'wrong')).toMatchObject({ status: 401 });
});

/** Sends the form as a browser without JavaScript does, and returns the sentence of the page. */
async function submit(id: string, cookie?: string): Promise<string | undefined> {
  const page = await (await fetch(`${url}/plants`)).text();
  const form = new FormData();
  for (const [, name, value = ''] of page.matchAll(
    /<input type="hidden" name="([^"]*)"(?: value="([^"]*)")?/g,
  ))
    form.append(name!, value.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
  for (const [name, value] of Object.entries({ id, name: 'Rosa canina', tag: '' })) form.append(name, value);
  const headers = { origin: url, ...(cookie && { cookie }) };
  const response = await fetch(`${url}/plants`, { method: 'POST', headers, body: form });
  return /<p role="status">(.*?)<\/p>/.exec(await response.text())?.[1];
}

it('the Server Action creates plants with exact ids, and has a sentence for what is wrong', async () => {
  expect(await submit('1')).toBe('Sign in first.');
  expect(await submit('9007199254740994', 'session=wrong')).toMatch(/token/);
  for (const id of ['9007199254740992', '9007199254740993'])
    expect(await submit(id, 'session=secret')).toBe(`Plant ${id} created.`);
  expect(await submit('9007199254740993', 'session=secret')).toMatch(/exists/);
  expect(await submit('x', 'session=secret')).toMatch(/^Enter an integer from/);
});
