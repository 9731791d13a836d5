import { expect, it } from 'vitest';
import { faultsIn } from './words.js';

it.each([
  ['a comment', 'x.ts', '// The request\n// is\n//   answered.', 1],
  ['a doc comment', 'x.ts', '/**\n * The request is\n * answered.\n */', 1],
  ['a message', 'x.js', "throw new Error('it is answered');", 1],
  ['a page', 'x.md', '`code`\nit is answered.', 1],
  ['code on a page', 'x.md', '```ts\nit is answered\n```\n`is answered`', 0],
  ['a name', 'x.ts', 'const isAnswered = answered;', 0],
  ['SQL that ignores every conflict', 'test/x.ts', 'insert … on conflict\n  do nothing', 1],
  ['another dialect of it', 'x.md', '```sql\nINSERT OR IGNORE INTO plants VALUES (?)\n```', 1],
  ['SQL that names its conflict', 'x.ts', 'ON CONFLICT(tenant, id) DO NOTHING', 0],
])('in %s, the check of the words finds what it has to', (_, file, text, count) => {
  expect(faultsIn(file, text)).toHaveLength(count);
});
