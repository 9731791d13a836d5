// npm ci installs what the lock names: each package by its integrity, from whichever registry npm is set to use.
import { expect, it } from 'vitest';
import lock from '../../package-lock.json' with { type: 'json' };

const packages = Object.entries<{ integrity?: string; resolved?: string }>(lock.packages).filter(
  ([path]) => path !== '',
);

it('every package of the lock has its integrity, also those of other platforms', () => {
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
});

it('no package of the lock has the address of a registry', () => {
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
