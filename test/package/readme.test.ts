import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { problems } from '../../src/problems.js';

const root = new URL('../..', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');
const examples = readdirSync(new URL('examples', root)).filter((name) => name.endsWith('.ts'));
const sources = examples.map((name) => flat(readFileSync(new URL(`examples/${name}`, root), 'utf8')));
const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

/** Text without indentation, so that a block may stand deeper in a file than in the README. */
function flat(text: string): string {
  return text.replace(/^[ \t]+/gm, '').trim();
}

function blocks(language: string): string[] {
  return [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , text]) => text!.trim());
}

describe('the README', () => {
  it.each(blocks('ts'))('shows code that a file of examples/ holds: %s', (block) => {
    expect(sources.some((source) => source.includes(flat(block)))).toBe(true);
  });

  it('has a block of at most six lines for each host', () => {
    const [, mount = ''] = /## Mount it\n([\s\S]*?)\n## /.exec(readme) ?? [];
    const found = [...mount.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
      ([, text]) => text!.trim().split('\n').length,
    );
    expect(found.length).toBeGreaterThan(4);
    expect(Math.max(...found)).toBeLessThanOrEqual(6);
  });

  it('shows the curl that the server prints, which a test of the server pastes', () => {
    const server = readFileSync(new URL('examples/server.ts', root), 'utf8');
    const [template = ''] = /curl -i .*/.exec(server) ?? [];
    const printed = template
      .replace(/\$\{url\}/, 'http://127.0.0.1:3000')
      .replace(/\$\{token\}/, 'for-evaluation-only');
    expect(blocks('sh')).toContain(printed);
  });

  it('names no script that package.json does not have', () => {
    const named = [...readme.matchAll(/`?npm (?:run )?(start|test|[a-z]+(?::[a-z]+)?)\b/g)].map(
      ([, name]) => name!,
    );
    for (const name of named.filter((name) => name !== 'ci')) expect(Object.keys(scripts)).toContain(name);
  });

  it('lists every error number with its status and name', () => {
    const rows = [...readme.matchAll(/^\| (\d{5}) \| (\d{3}) \| `(\w+)` \|/gm)].map(
      ([, error, status, name]) => [name, Number(error), Number(status)],
    );
    expect(rows).toEqual(
      Object.entries(problems).map(([name, [error]]) => [name, error, Math.trunc(error / 100)]),
    );
  });
});
