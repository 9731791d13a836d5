// The documents: their code runs, their links lead somewhere, their tables match the source.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command } from '../../examples/server/command.js';
import { plantStoreRules } from '../../src/options.js';
import { problems } from '../../src/problems.js';
import { examples } from '../support/examples.js';
import { titled } from '../support/titled.js';

const root = new URL('../..', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const readme = read('README.md');
const documents = [
  'README.md',
  '.github/CONTRIBUTING.md',
  '.github/SECURITY.md',
  'adapters/README.md',
  'examples/README.md',
  'examples/cluster/README.md',
  'src/README.md',
  'test/README.md',
  'test/programs/bench/README.md',
  'test/programs/mutants/README.md',
];
const programs = [...examples].map(([name, path]) => ({ name, text: read(path) }));
const { scripts, files: shipped } = JSON.parse(read('package.json')) as {
  scripts: Record<string, string>;
  files: string[];
};

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

  it('has at most 700 words in addition to code and tables', () => {
    const prose = readme.replace(/^```[\s\S]*?^```$/gm, '').replace(/^\|.*$/gm, '');
    expect(prose.trim().split(/\s+/).length).toBeLessThanOrEqual(700);
  });

  it.each(titled(code, (block) => block.split('\n', 1)[0]!))(
    'shows whole programs of examples/, such as one that starts with %s',
    (_, block) => {
      const texts = programs.map(({ text }) => text.replace(/^(\/\/.*\n)+/, '').trim());
      expect(texts).toContain(block);
    },
  );

  it('starts with a program of at most 15 lines and its imports', () => {
    const [first = ''] = code;
    expect(first.split('\n').length).toBeLessThanOrEqual(15);
    expect(first).toMatch(/^import /);
  });

  it('shows the two commands of a clone directly after the quick start', () => {
    const [, quickStart = ''] = /## Quick start\n([\s\S]*?)\n## /.exec(readme) ?? [];
    const last = quickStart.trim().split('\n').at(-1);
    expect(last).toMatch(/`npm ci && npm start`.*`npm ci && npm test`/);
  });

  it('lists every option with its default', () => {
    const rows = [...readme.matchAll(/^\| `(\w+)` \| `([^`]*)` \|/gm)].map(([, name, fallback]) => [
      name,
      fallback,
    ]);
    const expected = Object.entries(plantStoreRules).map(([name, [fallback]]) => [
      name,
      typeof fallback === 'function'
        ? 'console.error'
        : String(fallback || (fallback === '' ? "''" : fallback)),
    ]);
    expect(rows).toEqual(expected);
  });
});

describe('examples/README.md', () => {
  it('shows what the demo server prints, which a test of the server pastes', () => {
    const printed = command('linux', 'http://127.0.0.1:3000', 1n, 'for-evaluation-only');
    expect(blocks(read('examples/README.md'), 'sh').join('\n')).toContain(printed);
  });
});

describe('src/README.md', () => {
  it('lists every error number with its status and name', () => {
    const rows = [...read('src/README.md').matchAll(/^\| (\d{5}) \| (\d{3}) \| `(\w+)` \|/gm)].map(
      ([, error, status, name]) => [name, Number(error), Number(status)],
    );
    expect(rows).toEqual(
      Object.entries(problems).map(([name, [error]]) => [name, error, Math.trunc(error / 100)]),
    );
  });
});

/** Whether npm packs a file of the repository: `files` has it, a folder of it, or a pattern such as `src/*.svg`. */
function isShipped(path: string): boolean {
  return ['README.md', 'LICENSE', 'package.json', ...shipped].some((entry) => {
    const pattern = entry.replace(/[.+]/g, '\\$&').replaceAll('*', '[^/]*');
    return new RegExp(`^${pattern}(/|$)`).test(path);
  });
}

describe('the package', () => {
  it('has the pages that users read, and none of the logs of tests and measurements', () => {
    expect(documents.filter(isShipped)).toEqual([
      'README.md',
      '.github/SECURITY.md',
      'adapters/README.md',
      'examples/README.md',
      'examples/cluster/README.md',
      'src/README.md',
      'test/programs/bench/README.md',
    ]);
  });

  it.each(documents.filter(isShipped))('has every file that %s links to', (path) => {
    const missing = linksOf(read(path)).filter((link) => !isShipped(join(dirname(path), link)));
    expect(missing).toEqual([]);
  });
});

/** The relative links of a page, without their anchors. */
function linksOf(page: string): string[] {
  return [...page.matchAll(/\]\(([^)#]+)(?:#[\w-]*)?\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^\w+:/.test(link));
}

describe.each(documents)('%s', (path) => {
  const document = read(path);

  it('shows code that a file of examples/ holds', () => {
    const shown = blocks(document, 'ts').map(flat);
    const missing = shown.filter((block) => !programs.some(({ text }) => flat(text).includes(block)));
    expect(missing).toEqual([]);
  });

  it('names only scripts that package.json has', () => {
    const named = [...document.matchAll(/`npm (?:run )?(start|test|[a-z]+(?::[a-z]+)?)\b/g)].map(
      ([, name]) => name!,
    );
    const known = [...Object.keys(scripts), 'ci', 'install'];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('links to files that exist', () => {
    const base = new URL(path, root);
    const dead = linksOf(document).filter((link) => !existsSync(new URL(link, base)));
    expect(dead).toEqual([]);
  });
});
