// SQL that is safe to copy: wherever the repository shows an INSERT, it names the conflict that it ignores.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../support/root.js';

/** Ignores a conflict of every constraint: a second unique column then looks like a taken id. */
const bare = /\bON\s+CONFLICT\s+DO\b|\bINSERT\s+(OR\s+)?(IGNORE|REPLACE)\b/gi;

const rooms = ['.github', 'adapters', 'examples', 'src', 'test'];
const files = rooms
  .flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((name) => join(room, name)),
  )
  .concat('README.md')
  // This file has the mistakes in its own tests.
  .filter(
    (name) => /\.(ts|js|mjs|md|json|sql)$/.test(name) && name !== join('test', 'package', 'sql.test.ts'),
  );

test('no page, comment, example or test ignores every conflict', () => {
  const found = files.flatMap((name) =>
    [...readFileSync(join(root, name), 'utf8').matchAll(bare)].map(([words]) => `${name}: ${words}`),
  );
  expect(found).toEqual([]);
});

test('the check reads the SQL of pages, comments and examples', () => {
  const targeted = files.filter((name) => /ON CONFLICT \(/.test(readFileSync(join(root, name), 'utf8')));
  expect(targeted).toEqual(
    expect.arrayContaining(['src/storage.ts', 'examples/storages/minimal-storage.ts']),
  );
});

describe('the check', () => {
  test.each([
    'INSERT INTO plants VALUES ($1) ON CONFLICT DO NOTHING',
    'insert into plants values ($1)\n  on conflict\n  do nothing',
    'INSERT OR IGNORE INTO plants VALUES (?)',
    'INSERT IGNORE INTO plants VALUES (?)',
    'INSERT OR REPLACE INTO plants VALUES (?)',
  ])('finds %s', (sql) => expect(sql.match(bare)).toHaveLength(1));

  test.each([
    'ON CONFLICT (id) DO NOTHING',
    'ON CONFLICT(tenant, id) DO NOTHING',
    'ON CONFLICT ON CONSTRAINT plants_pkey DO NOTHING',
  ])('accepts %s', (sql) => expect(sql.match(bare)).toBeNull());
});
