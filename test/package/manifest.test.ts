// package.json and its lock. tarball.heavy.ts tests the packed package itself.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { entries } from '../../tsup.config.js';
import oldest from '../programs/runtimes/oldest/package.json' with { type: 'json' };
import { root } from '../support/root.js';

it('exports and the entries of the build list the same subpaths', () => {
  const subpaths = Object.keys(packageJson.exports).filter((name) => !name.endsWith('.json'));
  const built = Object.keys(entries).map((name) => (name === 'index' ? '.' : `./${name}`));
  expect(subpaths.sort()).toEqual(built.sort());
});

it('each package of the lock has its integrity, also those of other platforms, and no address of a registry', () => {
  // Not imported: the type of 800 packages would cost the compiler a second.
  const lock = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  const packages = Object.values<{ integrity?: string; resolved?: string }>(lock.packages).slice(1);
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([]);
  expect(packages.filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

/** The oldest versions of a package that `npm run test:runtimes` runs on, one of each major version. */
const oldestOf = (name: string) =>
  Object.entries(oldest.dependencies)
    .filter(([alias, version]) => alias === name || version.startsWith(`npm:${name}@`))
    .map(([, version]) => version.replace(/^npm:.*@/, ''));

it('each peer dependency is optional, and begins at the versions that the tests run on', () => {
  const optional = Object.keys(packageJson.peerDependencies).map((name) => [name, { optional: true }]);
  expect(packageJson.peerDependenciesMeta).toEqual(Object.fromEntries(optional));
  // It compiles itself if it cannot be fetched: storages.runtime.ts runs on the one that install.ts names.
  const { 'better-sqlite3': _, ...tested } = packageJson.peerDependencies;
  for (const [name, range] of Object.entries(tested)) {
    const lowest = range.split(' || ').map((part) => part.replace(/^(\^|>=)/, ''));
    expect([name, lowest.sort()]).toEqual([name, oldestOf(name).sort()]);
  }
});

it('the pages of hosts and storages name each of these versions', () => {
  const sections = ['hosts', 'storages'].map((room) => {
    const page = readFileSync(`${root}adapters/${room}/README.md`, 'utf8');
    return /\n## Versions\n([\s\S]*?)\n## /.exec(page)![1];
  });
  const versions = Object.keys(oldest.dependencies).flatMap(oldestOf);
  expect(versions.length).toBeGreaterThan(10);
  expect(versions.filter((version) => !sections.join('').includes(version))).toEqual([]);
});
