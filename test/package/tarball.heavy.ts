// The package as users get it: built, packed, and unpacked into projects that have nothing else but valibot.
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { errorNumbers } from 'plant-store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { entries } from '../../tsup.config.js';
import { load } from '../support/installed.js';
import { packedPackage, specifierOf, specifiers, subpaths } from '../support/package.js';
import { startProgram } from '../support/program.js';
import { root } from '../support/root.js';
import { bundleBudget } from './budget.js';

const node = (args: string[], cwd: string) => run(process.execPath, args, cwd);

let temp: string;
let tarball: string;
let installed: string;
/** The files of the package. */
let names: string[];

/** Resolves with the output of a program, also if it fails. */
async function run(file: string, args: string[], cwd: string) {
  const { exit, output } = startProgram([file, ...args], {}, cwd);
  return { code: await exit, output: output() };
}

/** The names that the source of a subpath exports at run time. */
async function namesOf(subpath: string): Promise<string[]> {
  const source = entries[(subpath === '.' ? 'index' : subpath.slice(2)) as keyof typeof entries];
  return Object.keys(await import(join(root, source))).sort();
}

/** A new project of this type, with the package installed. */
async function project(type: 'module' | 'commonjs', files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(temp, 'projects', `${type}-`));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

beforeAll(async () => {
  temp = await mkdtemp(join(tmpdir(), 'plant-store-'));
  tarball = await packedPackage();
  // A copy of valibot, because a link would lead the module search into the repository.
  installed = join(temp, 'projects/node_modules');
  await cp(join(root, 'node_modules/valibot'), join(installed, 'valibot'), { recursive: true });
  expect((await run('tar', ['xzf', tarball, '-C', temp], temp)).code).toBe(0);
  const folder = join(installed, 'plant-store');
  await rename(join(temp, 'package'), folder);
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  names = files
    .filter((file) => file.isFile())
    .map((file) => join(relative(folder, file.parentPath), file.name));
}, 600_000);

afterAll(() => rm(temp, { recursive: true, force: true }));

describe('the tarball', () => {
  const read = (name: string) => readFile(join(installed, 'plant-store', name), 'utf8');

  it('has what is built, the pages, the examples, a folder for each subpath, and nothing else', async () => {
    const expected =
      /^(dist\/[^/]+\.(js|cjs|d\.ts|d\.cts)|examples\/(?!server\/)(README\.md|\w+\/[\w-]+\.(tsx?|svelte)|stacks\/[\w-]+\.md|cluster\/.*)|(adapters|src)\/([\w-]+\/)?[^/]+\.(md|svg))$/;
    const folders = Object.keys(packageJson.exports)
      .filter((name) => !['.', './package.json'].includes(name))
      .map((name) => join(name, 'package.json'));
    expect(names).toEqual(expect.arrayContaining(folders));
    expect(names.filter((name) => !expected.test(name) && !folders.includes(name)).sort()).toEqual([
      '.github/CHANGELOG.md',
      '.github/SECURITY.md',
      '.github/speed.svg',
      'LICENSE',
      'README.md',
      'dist/host-cases.json',
      'dist/openapi.json',
      'dist/style.css',
      'examples/around/alerts.yml',
      'examples/around/dashboard.json',
      'llms.txt',
      'package.json',
      'test/programs/bench/README.md',
    ]);
  });

  it('is below 1 240 kB, and its shared chunks have the names of modules', async () => {
    const sizes = names.map(async (name) => (await stat(join(installed, 'plant-store', name))).size);
    const size = (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0);
    console.log(`the package: ${size} bytes in ${sizes.length} files`);
    expect(size).toBeLessThan(1_240_000);
    expect(names.filter((name) => /chunk-[A-Z\d]{8}/.test(name))).toEqual([]);
  });

  it('has an llms.txt with every subpath, every export and every error code', async () => {
    const text = await read('llms.txt');
    const sections = text.split('\n### ').slice(1);
    expect(sections.map((section) => section.split('\n', 1)[0]).sort()).toEqual([...specifiers].sort());
    for (const subpath of subpaths) {
      const section = sections.find((one) => one.startsWith(`${specifierOf(subpath)}\n`));
      for (const name of await namesOf(subpath))
        expect(section).toMatch(new RegExp(`^- \`${name}\`: \\S`, 'm'));
    }
    for (const [name, error] of Object.entries(errorNumbers))
      expect(text).toMatch(new RegExp(`^- ${error} \`${name}\`: \\S`, 'm'));
  });

  it('holds no path of the machine that built it', async () => {
    for (const name of names.filter((name) => name.startsWith('dist/'))) {
      const text = await read(name);
      for (const path of [root, temp]) expect([name, text.includes(path)]).toEqual([name, false]);
    }
  });

  // quick-start.runtime.ts runs it.
  it('has a program that a shell can start', async () => {
    expect(await read(packageJson.bin['plant-store'])).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('depends only on valibot, and runs nothing when it is installed', async () => {
    const { dependencies, scripts } = packageJson;
    expect(Object.keys(dependencies)).toEqual(['valibot']);
    expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$/.test(name))).toEqual([]);
  });

  it('is clean to publint --strict', async () => {
    const { publint } = await load('publint');
    const { messages } = await publint({ pkgDir: join(installed, 'plant-store'), strict: true, pack: false });
    expect(messages).toEqual([]);
  });

  it('is clean to attw', async () => {
    // Its strictest profile: `moduleResolution: node10` too, which knows no `exports`.
    // Fetched here, because its 37 MB are needed by this test alone.
    const attw = ['--yes', '@arethetypeswrong/cli@0.18.5'];
    const options = ['--no-definitely-typed', '--no-emoji', '--no-color', '--format', 'ascii'];
    const { code, output } = await run('npx', [...attw, tarball, ...options], temp);
    expect({ code, output: code ? output : '' }).toEqual({ code: 0, output: '' });
    for (const name of specifiers) expect(output).toContain(`"${name}"`);
  }, 600_000);
});

describe.each(['module', 'commonjs'] as const)('in a project of "type": "%s"', (type) => {
  const natural = { module: 'import', commonjs: 'require' }[type];
  const files = [
    ['import', natural === 'import' ? 'all.js' : 'all.mjs'],
    ['require', natural === 'require' ? 'all.js' : 'all.cjs'],
  ] as const;

  it.each(files)('%s of every subpath finds every export of the source (%s)', async (how, file) => {
    const load = how === 'import' ? 'await import(name)' : 'require(name)';
    const folder = await project(type, {
      [file]: `(async () => {
        const found = {};
        for (const name of ${JSON.stringify(specifiers)}) found[name] = Object.keys(${load}).sort();
        console.log(JSON.stringify(found));
      })();`,
    });
    const { code, output } = await node([file], folder);
    expect({ code, output: code ? output : '' }).toEqual({ code: 0, output: '' });
    const found = JSON.parse(output);
    for (const subpath of subpaths) {
      expect([subpath, found[specifierOf(subpath)]]).toEqual([subpath, await namesOf(subpath)]);
    }
  });

  // Node reads a folder by its path as a resolver does that does not know `exports`: Jest before 28, eslint-import-resolver-node.
  it('each subpath is a folder, too, which leads to the same module', async () => {
    const { '.': _, './package.json': __, ...all } = packageJson.exports;
    const folder = await project(type, {
      'folders.cjs': `
        const { strictEqual } = require('node:assert');
        const { dirname, join } = require('node:path');
        const folder = dirname(require.resolve('plant-store/package.json'));
        for (const name of ${JSON.stringify(Object.keys(all))})
          strictEqual(require(join(folder, name)), require(join('plant-store', name)));`,
    });
    expect(await node(['folders.cjs'], folder)).toEqual({ code: 0, output: '' });
  });

  it('openapi.json is what openapi() returns', async () => {
    const folder = await project(type, {
      'json.cjs': `
        const { deepStrictEqual } = require('node:assert');
        deepStrictEqual(require('plant-store/openapi.json'), require('plant-store/openapi').openapi());`,
    });
    expect(await node(['json.cjs'], folder)).toEqual({ code: 0, output: '' });
  });
});

describe('a project with Jest', () => {
  // Before 28 it knows no `exports`, and so takes valibot's `main`, which is an ES module.
  const valibot = { '^valibot$': '<rootDir>/../node_modules/valibot/dist/index.cjs' };

  it.each([
    ['27.5.1', valibot],
    ['30.5.2', {}],
  ])(
    'of %s finds every subpath',
    async (version, moduleNameMapper) => {
      const folder = await project('commonjs', {
        'jest.config.json': JSON.stringify({ testEnvironment: 'node', moduleNameMapper }),
        'all.test.js': `
        test.each(${JSON.stringify(specifiers)})('%s', (name) => {
          expect(Object.keys(require(name))).not.toEqual([]);
        });`,
      });
      const install = ['install', '--no-save', '--no-audit', '--no-fund', `jest@${version}`];
      const installed = await run('npm', install, folder);
      expect({ ...installed, output: installed.code ? installed.output : '' }).toEqual({
        code: 0,
        output: '',
      });
      const { code, output } = await run('npx', ['jest', '--ci'], folder);
      expect(output).toContain(`${specifiers.length} passed, ${specifiers.length} total`);
      expect(code).toBe(0);
    },
    600_000,
  );
});

describe('a bundle of plant-store and plant-store/fetch', () => {
  async function bundle(minify = false): Promise<string> {
    const folder = await project('module', {
      'app.js': `
        import { createPlantStore } from 'plant-store';
        import { toFetch } from 'plant-store/fetch';
        export const mount = (storage, verifyToken) => toFetch(createPlantStore(storage, verifyToken));`,
    });
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: ['app.js'],
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      // Stays in the text as an import, which the test below finds; Fastify's adapter has one.
      external: ['node:*'],
      write: false,
      minify,
    });
    return outputFiles[0]?.text as string;
  }

  it('holds nothing of another subpath', async () => {
    const text = await bundle();
    const fetchNames = await namesOf('./fetch');
    const others = subpaths.filter((name) => !['.', './fetch'].includes(name));
    const foreign = (await Promise.all(others.map(namesOf)))
      .flat()
      .filter((name) => !fetchNames.includes(name));
    const isDefined = (name: string) => new RegExp(`\\b(function|class|var|const) ${name}\\b`).test(text);
    expect(foreign.filter(isDefined)).toEqual([]);
  });

  it('holds no Node module and no eval', async () => {
    expect(await bundle()).not.toMatch(
      /["'](?:node:|valibot)|\brequire\(|\beval\(|\bFunction\(|\bprocess\.|\bBuffer\b/,
    );
  });

  it(`weighs no more than ${bundleBudget} bytes`, async () => {
    const size = gzipSync(await bundle(true)).length;
    console.log(`plant-store and plant-store/fetch: ${size} bytes, minified and gzipped`);
    expect(size).toBeLessThanOrEqual(bundleBudget);
  });
});
