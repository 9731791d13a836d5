/**
 * What an app copies from here must not let a token choose a URL, a path or a key, nor show it in a log: a token may be
 * `..`, which a URL resolves, or `__proto__`, and whoever reads a log could use it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { root } from '../support/root.js';

const folders = ['README.md', 'src', 'adapters', 'examples', '.github'];
const files = execFileSync('git', ['ls-files', ...folders], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|js|md)$/.test(file));

/** A program as it is; the blocks of a page, and of the doc comments that become those of a .d.ts. */
const blocks = files.flatMap((file) => {
  const text = readFileSync(`${root}/${file}`, 'utf8');
  const fences = [...text.matchAll(/^[ *]*```(\w*)\n(.*?)^[ *]*```$/gms)].map(([, language, block]) => ({
    file,
    language,
    text: block!.replace(/^ \* ?/gm, ''),
  }));
  return /^examples.*[tj]s$/.test(file) ? [{ file, language: 'ts', text }, ...fences] : fences;
});

/** The demo server shows its public token, and the user's own command on the user's own page. */
const shown = [
  'examples/server/page/template.ts: token',
  'examples/server/server.ts: token',
  'examples/server/settings.ts: publicToken',
];

/** The places of a block in which a token becomes part of something that is looked up, requested or logged. */
function leaks(text: string): string[] {
  const source = ts.createSourceFile('block.ts', text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && /^(\w*Token|token)$/.test(node.text) && isLeak(node)) {
      found.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const looksUp =
  /(^|\.)(get|has|set|delete|fetch|URL|Request|encodeURI|encodeURIComponent|log|info|warn|error|debug|trace)$/;

function isLeak(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isTemplateSpan(parent)) {
    const { templateSpans, head } = parent.parent;
    const i = templateSpans.indexOf(parent);
    return !/Bearer $/.test(i ? templateSpans[i - 1]!.literal.text : head.text);
  }
  if (ts.isElementAccessExpression(parent)) return parent.argumentExpression === node;
  if (ts.isComputedPropertyName(parent)) return true;
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent))
    return parent.expression !== node && looksUp.test(parent.expression.getText());
  if (ts.isBinaryExpression(parent)) {
    const { kind } = parent.operatorToken;
    if (kind === ts.SyntaxKind.PlusToken) return !/Bearer ['"`]$/.test(parent.left.getText());
    return kind === ts.SyntaxKind.QuestionQuestionToken && isLeak(parent);
  }
  return (
    (ts.isAsExpression(parent) || ts.isParenthesizedExpression(parent) || ts.isNonNullExpression(parent)) &&
    isLeak(parent)
  );
}

test('no program, page or doc comment builds a URL, a path, a key or a log line from a token', () => {
  expect(blocks.length).toBeGreaterThan(100);
  const found = blocks.flatMap(({ file, language, text }) =>
    (/^[tj]s$/.test(language!) ? leaks(text) : (text.match(/https?:\S*token\S*/gi) ?? [])).map(
      (leak) => `${file}: ${leak}`,
    ),
  );
  expect(found).toEqual(shown);
});

test('the check finds each of these ways', () => {
  const text = `
    fetch(\`https://a/\${token}\`); fetch(\`https://a/\${encodeURIComponent(token)}\`); fetch('https://a/' + token);
    new URL(token, base); sessions[token]; sessions.get(token!); x = { [token]: 1 };
    console.log(token); logger.info(\`caller \${token}\`)`;
  expect(leaks(text)).toEqual(Array(9).fill('token'));
});

test('nothing that an app copies writes an error itself, or its text, into a log or a trace', () => {
  const writes =
    /\b(?:log|info|warn|error|debug|recordException)\((?:[^()]*,\s*)?(?:error|err|cause)(?:\.(?:message|stack|detail))?(?: as \w+)?\)|\.on\('error', console\.\w+\)/g;
  const found = blocks
    // What the client throws is its own, and has the server's message to its client.
    .filter(({ file }) => !/^(examples\/clients|examples\/server)\//.test(file))
    .flatMap(({ file, text }) => [...text.matchAll(writes)].map(([call]) => `${file}: ${call}`));
  expect(found).toEqual([]);
});
