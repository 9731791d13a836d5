import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { plantStoreRules } from '../../src/options.js';
import { problems } from '../../src/problems.js';
import { root } from '../support/root.js';
import { exportsOfPackage, llmsText } from './llms.js';

const text = readFileSync(join(root, 'llms.txt'), 'utf8');

describe('llms.txt', () => {
  it('has every heading and every item that the source and the pages have (npm run build writes it anew)', () => {
    // Not the sentences, so that a better one does not fail here: the build takes them as they are then.
    const names = (page: string) => page.match(/^(#+ .*| *- (`\w+`|\d{5} `\w+`|\[[^\]]+\]))/gm);
    expect(names(text)).toEqual(names(llmsText()));
  });

  it('has every subpath that package.json exports, and every name that each exports', () => {
    const [, exported = ''] = /\n## Exports\n([\s\S]*?)\n## /.exec(text) ?? [];
    const subpaths = Object.keys(packageJson.exports).filter((name) => !name.endsWith('.json'));
    const sections = new Map(
      exported
        .split('\n### ')
        .slice(1)
        .map((section) => [section.split('\n')[0], section]),
    );
    expect([...sections.keys()].sort()).toEqual(subpaths.map((name) => `plant-store${name.slice(1)}`).sort());
    for (const [specifier, names] of exportsOfPackage()) {
      expect(names.length).toBeGreaterThan(0);
      for (const { name } of names)
        expect(sections.get(specifier)).toMatch(new RegExp(`^- \`${name}\`: \\S`, 'm'));
    }
  });

  it('has every option, every error code and every program of the recipes page', () => {
    for (const name of Object.keys(plantStoreRules)) expect(text).toContain(`- \`${name}\`: `);
    for (const [name, [error]] of Object.entries(problems))
      expect(text).toMatch(new RegExp(`^- ${error} \`${name}\`: \\S`, 'm'));
    for (const recipe of ['Koa 2 and 3', 'PostgreSQL', '#jwts', '#orval', '#the-demo-server'])
      expect(text).toContain(recipe);
  });

  it('is in the package', () => {
    expect(packageJson.files).toContain('llms.txt');
  });
});
