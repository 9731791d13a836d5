/** No regular expression of the code takes more than linear time: a client could hold the event loop with one header. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { root } from '../support/root.js';

const files = execFileSync('git', ['ls-files', 'src', 'adapters', 'examples/server'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(ts|js)$/.test(file));

/** The literals, and what `new RegExp` gets as a template: its parts are expressions of their own. */
const expressions = files.flatMap((file) => {
  const found: [name: string, expression: RegExp][] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const [, source, flags] = /^\/(.*)\/(\w*)$/s.exec(node.text)!;
      found.push([`${file}: ${node.text}`, new RegExp(source!, flags)]);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(`${root}/${file}`, 'utf8'), ts.ScriptTarget.Latest, true));
  return found;
});
// Made of parts, in src/request/headers.ts.
expressions.push(['bearer', /^bearer(?: +([A-Za-z0-9._~+/-]+=*) *$| |$)/i]);

/** Texts that repeat what an expression may read: its own characters and words, and what clients often send. */
function* texts({ source }: RegExp, size: number): Generator<string> {
  const plain = source.replace(/\\(.)/g, '$1');
  const words = [...(plain.match(/[\w:/"{}=; -]{2,}/g) ?? [])].slice(0, 8);
  const pumps = new Set([
    ...plain.slice(0, 40),
    ...words,
    ...'aA0 /.=,;-\\"\'`\n\t_%{([é',
    'a ',
    '/a',
    'a.',
    '\\"',
    '0.',
  ]);
  for (const start of ['', ...words.slice(0, 3)])
    for (const pump of pumps)
      for (const end of ['', '\0']) yield start + pump.repeat(size / pump.length) + end;
}

// In a context, because one that takes exponential time would never end.
const input = createContext({});
const replace = new Script("text.replace(expression, '')");

/** A text that takes too long, or `undefined`. */
function slowText(expression: RegExp): string | undefined {
  // A quadratic one takes at least 8 s for 128 KiB, at a nanosecond a step.
  const size = 2 ** 17;
  const limit = 200;
  for (const text of texts(expression, size)) {
    const exceeds = () => {
      try {
        Object.assign(input, { text, expression });
        replace.runInContext(input, { timeout: limit });
        return false;
      } catch {
        return true;
      }
    };
    // Three times: on a busy machine, one measurement may include the time of other processes.
    if (exceeds() && exceeds() && exceeds()) return `${size}: ${JSON.stringify(text.slice(0, 20))}`;
  }
  return undefined;
}

test.each([/\/*$/, /^(a+|b)+$/])('the check finds %s', (expression) =>
  expect(slowText(expression)).toMatch(/^\d+: /),
);

test('there are expressions to check', () => expect(expressions.length).toBeGreaterThan(60));

test.each(expressions)(
  '%s is linear',
  (_, expression) => expect(slowText(expression)).toBe(undefined),
  120_000,
);
