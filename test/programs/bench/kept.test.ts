import { expect, test } from 'vitest';
import { current, draw } from './kept.js';

test('README.md and hosts.svg show the figures that were kept', () => {
  expect(current()).toEqual(draw());
});
