// "Where to touch" in .github/CONTRIBUTING.md, as a test: it names each place that was forgotten.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorNumbers } from 'plant-store';
import { describe, expect, it } from 'vitest';
import { entries } from '../../tsup.config.js';
import { examples } from '../support/examples.js';
import { root } from '../support/root.js';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const textsIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join(folder, name)));

describe('an error number', () => {
  const core = textsIn('src');
  const picture = read('src/request.svg');
  const tests = [...textsIn('test/core'), ...textsIn('test/hosts'), read('test/published/host-cases.json')];

  it.each(Object.entries(errorNumbers))('%s is thrown, drawn and tested', (name, error) => {
    expect({
      'src/': core.some((text) => new RegExp(`new Refusal\\(\\s*'${name}'`).test(text)),
      // A fault of this library can happen at any step.
      'src/request.svg': name === 'internal_error' || picture.includes(`${error}`),
      'test/core, test/hosts or host-cases.json': tests.some((text) => text.includes(`${error}`)),
    }).toEqual({
      'src/': true,
      'src/request.svg': true,
      'test/core, test/hosts or host-cases.json': true,
    });
  });
});

describe('a program of examples/', () => {
  const tests = textsIn('test').join('\n');
  const programs = textsIn('examples').join('\n');

  it.each([...examples.keys()])('%s is run by a test, or is a part of another program', (name) => {
    expect(tests + programs).toMatch(new RegExp(`['/]${name}(\\.[jt]s)?'`));
  });
});

describe('an adapter', () => {
  const readme = read('README.md');
  const programs = textsIn('examples').join('\n');
  const hosts = read('test/hosts/hosts.ts');
  const hostTypes = read('test/hosts/hosts.types.ts');
  const storages = [...textsIn('test/storages'), ...textsIn('test/programs/cluster')].join('\n');
  const adapters = ['hosts', 'storages'].flatMap((folder) =>
    readdirSync(join(root, 'adapters', folder))
      .filter((file) => file.endsWith('.ts') && !file.startsWith('_'))
      .map((file) => [file.replace(/\.ts$/, ''), folder] as const),
  );

  it.each(adapters)('%s of %s is built, shown, imported by an example, and tested', (name, folder) => {
    const specifier = `plant-store/${name}`;
    expect(entries).toHaveProperty(name, `adapters/${folder}/${name}.ts`);
    expect(readme).toContain(`from \`${specifier}\``);
    expect(programs).toContain(`'${specifier}'`);
    for (const tests of folder === 'hosts' ? [hosts, hostTypes] : [storages])
      expect(tests).toContain(`'${specifier}'`);
  });
});
