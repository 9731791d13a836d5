// package.json exports the files that the build makes. tarball.heavy.ts tests the packed package itself.
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { entries } from '../../tsup.config.js';

const subpaths = Object.keys(packageJson.exports).filter((name) => !name.endsWith('.json'));

it('exports and the entries of the build list the same subpaths', () => {
  const built = Object.keys(entries).map((name) => (name === 'index' ? '.' : `./${name}`));
  expect([...subpaths].sort()).toEqual(built.sort());
});

it.each(subpaths)('%s has code and types for import and require', (subpath) => {
  const file = `./dist/${subpath === '.' ? 'index' : subpath.slice(2)}`;
  expect((packageJson.exports as Record<string, unknown>)[subpath]).toEqual({
    import: { types: `${file}.d.ts`, default: `${file}.js` },
    require: { types: `${file}.d.cts`, default: `${file}.cjs` },
  });
});
