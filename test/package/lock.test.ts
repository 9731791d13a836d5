// npm ci installs what the lock names: each package by its integrity, from whichever registry npm is set to use.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { root } from '../support/root.js';

// Not imported: the type of 800 packages would cost the compiler a second.
const lock = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
const packages = Object.entries<{ integrity?: string; resolved?: string }>(lock.packages).slice(1);

it('every package of the lock has its integrity, also those of other platforms', () => {
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
});

it('no package of the lock has the address of a registry', () => {
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
