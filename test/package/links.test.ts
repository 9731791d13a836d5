// The pages as users of the package have them: npm does not know the repository, so each link leads to a packed file.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, linksOf } from '../support/pages.js';
import { root } from '../support/root.js';

const read = (name: string) => readFileSync(join(root, name), 'utf8');
const [{ files }] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  }),
) as [{ files: { path: string }[] }];
const packed = files.map(({ path }) => path);
const pages = packed.filter((path) => path.endsWith('.md'));

it('the package has README.md and a page for each room', () => {
  const rooms = ['adapters/hosts', 'adapters/storages', 'examples', 'examples/cluster', 'src'];
  expect(pages).toEqual(
    expect.arrayContaining([
      'README.md',
      'adapters/OPERATING.md',
      ...rooms.map((room) => `${room}/README.md`),
    ]),
  );
});

it('the package has no test and no source of the demo server', () => {
  expect(
    packed.filter((path) => /^(test\/(?!programs\/bench\/README)|examples\/server)|\.test\./.test(path)),
  ).toEqual([]);
});

describe.each(pages)('%s', (page) => {
  it('links only to files and headings of the package', () => {
    const dead = linksOf(read(page)).filter(([file, anchor]) => {
      const target = file ? normalize(join(page, '..', file)) : page;
      const isFolder = packed.some((path) => path.startsWith(`${target.replace(/\/$/, '')}/`));
      if (!packed.includes(target)) return !isFolder;
      return anchor !== '' && !anchorsOf(read(target)).includes(anchor);
    });
    expect(dead).toEqual([]);
  });
});
