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
