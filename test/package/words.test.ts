// The house style of .github/CONTRIBUTING.md, as far as a program can check it: words that a page, a comment, a message and
// a test title must not use, because HTTP, SQL and Node have words for what they mean.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root } from '../support/root.js';

/** From an expression, in which a space stands for any white space, to the words to use instead. */
const dialect: Readonly<Record<string, string>> = {
  '(is|are|was|were|be|been|being) answered': 'returns 200, gets a response; a promise settles',
  '(?<!by )hand(s|ed|ing)?( it| them| the request| requests)? on(?! (Node|Bun|Deno))':
    'passes to, calls next()',
  '(go|goes|going|gone|went) past': 'is not handled by',
  'is used of': 'the part of … that is used',
  '(is|are|was|were|be|been) told(?! apart)': 'is reported, gets',
  '(has|have|had|is|are|was|were) gone': 'disconnected (client), consumed (body), closed, removed',
  'gone when': 'lost on exit',
  'given up': 'aborted (call), cancelled (timer)',
  surely: 'definitely, known to be',
  'out of reach': 'unavailable',
  '(has|have|had|is) no room': 'is overloaded, its queue is full',
  'on (its|their) way': 'in flight',
  'sent again': 'retried',
  'time (is|was) over': 'timed out',
  'time (lasts|ends|ended)': 'until the timeout',
  '(in|within) (its|their|time of its) time': 'before the timeout',
  '(is|are|was|were) (too )?late': 'timed out',
  '(com|go)(e|es|ing) to an end': 'ends',
  'may yet': 'can still',
  'whole numbers?': 'integer',
  'however (it|they) (is|are|was) (spelt|spelled|written)': 'in any notation',
  'equals? the stored plant': 'is identical to the stored plant',
  '(good|bad) tokens?': 'valid, invalid token',
  'the handle that you': 'your connection, your pool',
  'strips? (a|the|no) mount': 'strips the prefix',
  '(?<!what |(any|every|some|no)(thing|body|one|where) )else (an?|the|it|they|no)': 'otherwise',
  '(turn|turns|turned) down': 'rejects',
  'mend(s|ed|ing)?': 'fix, work around',
  beside: 'next to, in addition to',
  'duels?': 'pair',
  'evaluation server': 'demo server',
  '(go|goes|going|gone|went) away': 'disconnects',
  'in doubt': 'outcome unknown',
  '(give|gives|giving|gave) up': 'aborts, cancels, times out',
  'what is left of': 'the remaining',
  '(is|are|was|were) found out': 'is detected, is reported',
};
const rules = Object.entries(dialect).map(([words, use]) => ({
  words: new RegExp(`\\b(?:${words.replaceAll(' ', '\\s+')})\\b`, 'gi'),
  use,
}));

/** A piece of a file that a person reads, at its place in the file. */
interface Prose {
  readonly start: number;
  readonly text: string;
}

/** The comments and the texts of a program. */
function proseOfProgram(text: string): Prose[] {
  const source = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
  const found = new Map<number, Prose>();
  const visit = (node: ts.Node): void => {
    const comments = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ];
    for (const { pos, end } of comments) found.set(pos, { start: pos, text: text.slice(pos, end) });
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) {
      const start = node.getStart(source);
      found.set(start, { start, text: text.slice(start, node.end) });
    }
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  const inOrder = [...found.values()].sort((a, b) => a.start - b.start);
  // A comment of several `//` lines is one text.
  const joined: Prose[] = [];
  for (const prose of inOrder) {
    const last = joined.at(-1);
    const between = last && text.slice(last.start + last.text.length, prose.start);
    if (
      between !== undefined &&
      /^\n\s*$/.test(between) &&
      /^\/\//.test(last!.text) &&
      /^\/\//.test(prose.text)
    ) {
      joined[joined.length - 1] = { start: last!.start, text: last!.text + between + prose.text };
    } else {
      joined.push(prose);
    }
  }
  return joined.map(({ start, text }) => ({
    start,
    text: text.replace(/^[ \t]*(\*|\/\/)/gm, (mark) => ' '.repeat(mark.length)),
  }));
}

/** A page without its code. */
function proseOfPage(text: string): Prose[] {
  const blank = (code: string) => code.replace(/[^\n]/g, ' ');
  return [{ start: 0, text: text.replace(/^```[\s\S]*?^```$|`[^`\n]*`/gm, blank) }];
}

function proseOf(file: string, text: string): Prose[] {
  if (/\.(ts|js|mjs)$/.test(file)) return proseOfProgram(text);
  // The guide itself quotes the words.
  if (file === '.github/CONTRIBUTING.md') return proseOfPage(text.split('## House style')[0]!);
  return proseOfPage(text);
}

function faultsIn(file: string, text: string): string[] {
  return proseOf(file, text).flatMap((prose) =>
    rules.flatMap(({ words, use }) =>
      [...prose.text.matchAll(words)].map(({ 0: found, index }) => {
        const line = text.slice(0, prose.start + index).split('\n').length;
        return `${file}:${line}: not "${found.replace(/\s+/g, ' ')}", but: ${use}`;
      }),
    ),
  );
}

/** The files below a folder that this test reads. */
function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return /\.(ts|js|mjs|md|json|yml|cnf|cfg|ini)$/.test(path) ? [path] : [];
  });
}

const files = [
  'README.md',
  'package.json',
  'tsup.config.ts',
  ...['.github', 'adapters', 'examples', 'src', 'test'].flatMap(filesIn),
]
  // Written by programs, and this list.
  .filter((file) => !/generated\.ts$|figures\.json$|words\.test\.ts$/.test(file));

describe('no word of the dialect', () => {
  const rooms = new Map<string, string[]>();
  for (const file of files) {
    const room = file.split('/').slice(0, -1).slice(0, 2).join('/') || '.';
    rooms.set(room, [...(rooms.get(room) ?? []), file]);
  }

  it.each([...rooms])('is used in %s', (_, inRoom) => {
    expect(inRoom.flatMap((file) => faultsIn(file, readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });

  it.each([
    ['a comment', 'x.ts', '// The request\n// is\n//   answered.'],
    ['a doc comment', 'x.ts', '/**\n * The request is\n * answered.\n */\nconst a = 1;'],
    ['a comment before a brace', 'x.ts', 'function f() {\n  // It is answered.\n}'],
    ['a text', 'x.js', "throw new Error('it is answered');"],
    ['a template', 'x.ts', 'const a = `\u0024{b} is answered`;'],
    ['a page', 'x.md', 'It is\nanswered.'],
    ['the title of a case', 'x.json', '{ "title": "it is answered" }'],
  ])('is overlooked in %s', (_, file, text) => {
    expect(faultsIn(file, text)).toEqual([
      expect.stringMatching(/^x\.\w+:\d: not "is answered", but: returns 200/),
    ]);
  });

  it.each([
    ['a name', 'x.ts', 'const isAnswered = surely.told;'],
    ['the code of a page', 'x.md', '```ts\nsurely();\n```\n`surely()`'],
  ])('is looked for in %s', (_, file, text) => {
    expect(faultsIn(file, text)).toEqual([]);
  });
});
