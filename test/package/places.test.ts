// "Where to touch" in .github/CONTRIBUTING.md, as a test: it names each place that was forgotten.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { problems } from '../../src/problems.js';
import { entries } from '../../tsup.config.js';
import { examples } from '../support/examples.js';
import { root } from '../support/root.js';
import { titled } from '../support/titled.js';
import { steps } from './request-picture.js';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const textsIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join(folder, name)));

/** For each place, the text to report and whether the subject is there. */
type Places<Subject> = Record<string, (subject: Subject) => boolean>;

function forgotten<Subject>(places: Places<Subject>, subject: Subject): string[] {
  return Object.keys(places).filter((place) => !places[place]!(subject));
}

describe('an error number', () => {
  type Numbered = { readonly name: string; readonly error: number };
  const core = textsIn('src');
  const table = read('src/README.md');
  const tests = [...textsIn('test/core'), ...textsIn('test/hosts'), read('test/published/host-cases.json')];
  const pictured = steps.flatMap(({ refusals }) => refusals as readonly string[]);

  const places: Places<Numbered> = {
    'src/: nothing throws it': ({ name }) =>
      core.some((text) => new RegExp(`new Refusal\\(\\s*'${name}'`).test(text)),
    'src/README.md: the table has no such row': ({ name, error }) =>
      table.includes(`| ${error} | ${Math.trunc(error / 100)} | \`${name}\` |`),
    // A fault of this library can happen at any step.
    'test/package/request-picture.ts: no step refuses with it': ({ name }) =>
      name === 'internal_error' || pictured.includes(name),
    'test/core, test/hosts, test/published/host-cases.json: no test expects it': ({ error }) =>
      tests.some((text) => text.includes(String(error))),
  };

  it.each(Object.entries(problems))('%s is in every place', (name, [error]) => {
    expect(forgotten(places, { name, error })).toEqual([]);
  });

  it('missing in every place is reported', () => {
    // Computed, because this file would be found if it held the number.
    expect(forgotten(places, { name: 'eaten', error: 40_000 + 999 })).toEqual(Object.keys(places));
  });
});

describe('a program of examples/', () => {
  const tests = textsIn('test');
  const named = textsIn('test/examples');
  const programs = textsIn('examples');
  const isUsed = (name: string) =>
    tests.some((text) => new RegExp(`examples/\\w+/${name}\\.[jt]s['"]`).test(text)) ||
    named.some((text) => text.includes(`'${name}'`)) ||
    programs.some((text) => text.includes(`'./${name}.js'`));

  it.each([...examples.keys()])('%s is run by a test, or is a part of another program', (name) => {
    expect(isUsed(name)).toBe(true);
  });

  it('that no test runs is reported', () => {
    expect(isUsed(['compost', 'heap'].join('-'))).toBe(false);
  });
});

describe('an adapter', () => {
  type Adapter = { readonly folder: 'hosts' | 'storages'; readonly name: string };
  const adapters = (['hosts', 'storages'] as const).flatMap((folder) =>
    readdirSync(join(root, 'adapters', folder))
      .filter((file) => file.endsWith('.ts') && !file.startsWith('_'))
      .map((file): Adapter => ({ folder, name: file.replace(/\.ts$/, '') })),
  );

  const readme = read('README.md');
  const exampleTexts = textsIn('examples');
  const hosts = read('test/hosts/hosts.ts');
  const hostTypes = read('test/hosts/hosts.types.ts');
  const storageTests = [...textsIn('test/storages'), ...textsIn('test/programs/cluster')];
  const imports = (text: string, name: string) => text.includes(`'plant-store/${name}'`);

  const common: Places<Adapter> = {
    'tsup.config.ts: no entry': ({ folder, name }) =>
      entries[name as keyof typeof entries] === `adapters/${folder}/${name}.ts`,
    'README.md: no row': ({ name }) => readme.includes(`from \`plant-store/${name}\``),
    'examples/: none imports it': ({ name }) => exampleTexts.some((text) => imports(text, name)),
  };
  const places = {
    hosts: {
      ...common,
      'test/hosts/hosts.ts: no row': ({ name }) => imports(hosts, name),
      'test/hosts/hosts.types.ts: its type is not checked': ({ name }) => imports(hostTypes, name),
    },
    storages: {
      ...common,
      'test/storages, test/programs/cluster: no test': ({ name }) =>
        storageTests.some((text) => imports(text, name)),
    },
  } satisfies Record<Adapter['folder'], Places<Adapter>>;

  it.each(titled(adapters, ({ folder, name }) => `${name} of ${folder}`))(
    '%s is in every place',
    (_, adapter) => {
      expect(forgotten<Adapter>(places[adapter.folder], adapter)).toEqual([]);
    },
  );

  it.each(['hosts', 'storages'] as const)('of %s that is missing in every place is reported', (folder) => {
    expect(forgotten<Adapter>(places[folder], { folder, name: 'abacus' })).toEqual(
      Object.keys(places[folder]),
    );
  });
});
