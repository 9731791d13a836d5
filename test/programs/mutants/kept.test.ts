import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../support/root.js';
import { groups, sourceFiles } from './groups.js';
import { pages, type Result, table } from './kept.js';

test('README.md shows the results that were kept', () => {
  const { current, expected } = pages();
  expect(current).toBe(expected);
});

test('the table sums each folder over its files', () => {
  const run = { date: '2026-11-22', commit: '0e81620' };
  const results: Result[] = [
    { file: 'src/a.ts', mutants: 90, survivors: 0, ...run },
    { file: 'src/b.ts', mutants: 10, survivors: 4, ...run },
  ];
  expect(table(results).split('\n').slice(2)).toEqual([
    '| **all of `src/`** | 100 | 4 | **96.0 %** | |',
    '| `src/a.ts` | 90 | 0 | 100.0 % | 2026-11-22, 0e81620 |',
    '| `src/b.ts` | 10 | 4 | 60.0 % | 2026-11-22, 0e81620 |',
  ]);
});

describe('the groups', () => {
  const starts = groups.flatMap(({ files }) => files);
  const sources = sourceFiles();

  test.each(sources)('contain %s once', (file) => {
    expect(starts.filter((start) => file.startsWith(start))).toHaveLength(1);
  });

  test('name only files and tests that exist', () => {
    expect(starts.filter((start) => !sources.some((file) => file.startsWith(start)))).toEqual([]);
    const tests = groups.flatMap(({ tests }) => tests);
    expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
