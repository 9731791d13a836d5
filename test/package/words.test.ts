import { expect, it } from 'vitest';
import { faultsIn } from './words.js';

it.each([
  ['a comment', 'x.ts', '// The request\n// is\n//   answered.'],
  ['a doc comment', 'x.ts', '/**\n * The request is\n * answered.\n */'],
  ['a message', 'x.js', "throw new Error('it is answered');"],
  ['a page', 'x.md', '`code`\nit is answered.'],
])('a phrase of the dialect is found in %s', (_, file, text) => {
  expect(faultsIn(file, text)).toEqual([
    expect.stringMatching(/^x\.\w+:\d: not "is answered", but: returns/),
  ]);
});

it('code on a page, and names in a program, are no prose', () => {
  expect(faultsIn('x.md', '```ts\nit is answered\n```\n`is answered`')).toEqual([]);
  expect(faultsIn('x.ts', 'const isAnswered = answered;')).toEqual([]);
});

it.each([
  'INSERT INTO plants VALUES ($1) ON CONFLICT DO NOTHING',
  'insert into plants values ($1)\n  on conflict\n  do nothing',
  'INSERT OR IGNORE INTO plants VALUES (?)',
  'INSERT IGNORE INTO plants VALUES (?)',
  'INSERT OR REPLACE INTO plants VALUES (?)',
])('SQL that ignores every conflict is found in a page and in a test: %s', (sql) => {
  for (const file of ['x.md', 'test/x.ts'])
    expect(faultsIn(file, `\`\`\`sql\n${sql}\n\`\`\``)).toHaveLength(1);
});

it.each(['ON CONFLICT (id) DO', 'ON CONFLICT(tenant, id) DO', 'ON CONFLICT ON CONSTRAINT plants_pkey DO'])(
  'SQL that names its conflict is accepted: %s',
  (sql) => expect(faultsIn('x.ts', sql)).toEqual([]),
);
