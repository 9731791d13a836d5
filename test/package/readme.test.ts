// The documents: their code runs, their links lead somewhere, their tables match the source.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { acceptTokens, createPlantStore, errorNumbers } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, it } from 'vitest';
import { command } from '../../examples/server/command.js';
import { examples } from '../support/examples.js';
import { anchorsOf, linksOf } from '../support/pages.js';
import { rows as runbook } from '../support/runbook.js';
import { titled } from '../support/titled.js';

const root = new URL('../..', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const readme = read('README.md');
const documents = [
  'README.md',
  '.github/CHANGELOG.md',
  '.github/CONTRIBUTING.md',
  '.github/SECURITY.md',
  'adapters/OPERATING.md',
  'adapters/hosts/README.md',
  'adapters/storages/README.md',
  'examples/README.md',
  'examples/cluster/README.md',
  'src/README.md',
  'test/README.md',
  'test/programs/bench/README.md',
  'test/programs/mutants/README.md',
];
const programs = [...examples].map(([name, path]) => ({ name, text: read(path) }));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Text without indentation, because a block may be indented in its program. */
function flat(text: string): string {
  return text.replace(/^[ \t]+/gm, '').trim();
}

function blocks(document: string, language: string): string[] {
  return [...document.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , text]) => text!.trim());
}

describe('README.md', () => {
  const code = [...blocks(readme, 'js'), ...blocks(readme, 'ts')];

  it.each(titled(code, (block) => block.split('\n', 1)[0]!))(
    'shows whole programs of examples/, such as one that starts with %s',
    (_, block) => {
      const texts = programs.map(({ text }) => text.replace(/^(\/\/.*\n)+/, '').trim());
      expect(texts).toContain(block);
    },
  );

  // A new section pays with an old one.
  it('has at most 850 words beside code and tables', () => {
    const prose = readme
      .replace(/^```[\s\S]*?^```$/gm, '')
      .replace(/^\|.*$/gm, '')
      .replace(/!\[[^\]]*\]|(?<=\])\([^)]*\)/g, '');
    expect(prose.split(/\s+/).filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(850);
  });

  it('lists every option', () => {
    const rows = [...readme.matchAll(/^\| `(\w+)` \| `[^`]*` \|/gm)].map(([, name]) => name!);
    const unknown = () => createPlantStore(memoryStorage(), acceptTokens('x'), { limit: 1 } as object);
    expect(unknown).toThrow(/the options are/);
    for (const name of rows) expect(unknown).toThrow(new RegExp(`\\b${name}\\b`));
    expect(unknown).toThrow(new RegExp(`are (\\w+(, |$)){${rows.length}}`));
  });
});

const tests = readdirSync(new URL('test', root), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => read(`test/${name}`));
/** Without the imports of packages: a program may have the name of the package that it imports. */
const texts = [...tests, ...programs.map(({ text }) => text)]
  .join('\n')
  .replace(/\b(from |load\(|import\()'[^.'][^']*'/g, '');

it.each([...examples.keys()])('%s is run by a test, or is a part of another program', (name) => {
  expect(texts).toMatch(new RegExp(`['/]${name}(\\.[jt]s)?'`));
});

it('examples/README.md shows what the demo server prints, which a test of the server pastes', () => {
  const printed = command('linux', 'http://127.0.0.1:3000', 1n, 'for-evaluation-only');
  expect(blocks(read('examples/README.md'), 'sh').join('\n')).toContain(printed);
});

it('adapters/OPERATING.md lists every code of a 5xx for operators, with texts that a log line can have', () => {
  const codes = Object.values(errorNumbers).filter((code) => code >= 50_000);
  expect([...new Set(runbook.flatMap((row) => row.codes))].map(Number).sort()).toEqual(codes.sort());
  const sources = ['src', 'adapters'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => read(`${folder}/${name}`)),
  );
  const texts = runbook.flatMap((row) => row.texts);
  expect(texts.filter((text) => !sources.some((source) => source.includes(text)))).toEqual([]);
  expect(texts.length).toBeGreaterThan(5);
});

it('src/README.md lists every error number with its status and name', () => {
  const rows = [...read('src/README.md').matchAll(/^\| (\d{5}) \| (\d{3}) \| `(\w+)` \|/gm)].map(
    ([, error, status, name]) => [name, Number(error), Number(status)],
  );
  const expected = Object.entries(errorNumbers).map(([name, error]) => [
    name,
    error,
    Math.trunc(error / 100),
  ]);
  expect(rows.sort()).toEqual(expected.sort());
});

describe.each(documents)('%s', (path) => {
  const document = read(path);

  it('shows code that a file of examples/ holds', () => {
    const shown = blocks(document, 'ts').map(flat);
    const missing = shown.filter((block) => !programs.some(({ text }) => flat(text).includes(block)));
    expect(missing).toEqual([]);
  });

  it('names only scripts that package.json has', () => {
    const named = [...document.matchAll(/`npm (?:run ([\w:]+)|(start|test)\b)/g)].map(
      ([, run, own]) => run ?? own!,
    );
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});

/** Their code and scripts are those of an app: test/programs/stacks/. */
const stacks = readdirSync(new URL('examples/stacks', root)).map((name) => `examples/stacks/${name}`);

it.each([...documents, ...stacks])('%s links to files and headings that exist', (path) => {
  const base = new URL(path, root);
  const dead = linksOf(read(path)).filter(([file, anchor]) => {
    const target = file ? new URL(file, base) : base;
    return !existsSync(target) || (anchor && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor));
  });
  expect(dead).toEqual([]);
});

it.each(stacks)('README.md leads to %s', (path) => {
  expect(readme).toContain(`](${path})`);
});
