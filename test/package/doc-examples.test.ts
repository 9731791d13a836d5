// The doc comments that an editor shows for the exports of the package.
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { compilerOptions, exportsOfPackage, type PackageExport } from '../support/compiler.js';
import { root } from '../support/root.js';
import { titled } from '../support/titled.js';

// The imports that `complete` adds may be types or values.
const options: ts.CompilerOptions = { ...compilerOptions, verbatimModuleSyntax: false };

interface Export extends PackageExport {
  readonly file: string;
  /** A function or a class. */
  readonly isCalled: boolean;
  readonly declaration: ts.Node;
}

const library = exportsOfPackage();
const exported = library.exported.map((one): Export => {
  const declaration = one.symbol.declarations?.[0] as ts.Node;
  const file = relative(root, declaration.getSourceFile().fileName);
  const { flags } = one.symbol;
  const signatures = library.checker.getTypeOfSymbol(one.symbol).getCallSignatures();
  const isFunction = flags & ts.SymbolFlags.Value && signatures.length > 0;
  return { ...one, file, declaration, isCalled: Boolean(flags & ts.SymbolFlags.Class || isFunction) };
});

/** The doc comment of an export, as in the source. */
function docOf({ declaration }: Export): string {
  let node = declaration;
  // The comment of a constant is before its whole statement.
  while (node.parent && !ts.isSourceFile(node.parent)) node = node.parent;
  const text = node.getSourceFile().text;
  const ranges = ts.getLeadingCommentRanges(text, node.pos) ?? [];
  const last = ranges.at(-1);
  return last && text.startsWith('/**', last.pos) ? text.slice(last.pos, last.end) : '';
}

const blocksOf = (doc: string): string[] =>
  [...doc.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block.replace(/^ *\* ?/gm, ''));

const nameOf = ({ name, specifier }: Export) => `${name} of ${specifier}`;

describe('every export', () => {
  it.each(titled(exported, nameOf))('%s has a doc comment', (_, one) => {
    expect(docOf(one)).toMatch(/^\/\*\*\s+(\*\s+)?[A-Z`]/);
  });

  const called = exported.filter(({ isCalled }) => isCalled);
  it.each(
    titled(
      called.filter((one) => !/@internal/.test(docOf(one))),
      nameOf,
    ),
  )('%s has an example', (_, one) => {
    expect(blocksOf(docOf(one)).join()).toMatch(new RegExp(`\\b${one.name}\\b`));
  });
});

describe('an example of a doc comment compiles', () => {
  const examples = [...new Map(exported.map((one) => [one.declaration, one])).values()].flatMap((one) =>
    blocksOf(docOf(one)).map((block, i) => ({
      ...one,
      path: join(root, dirname(one.file), `${one.name}-${i}.example.ts`),
      text: complete(block),
      number: i + 1,
    })),
  );
  const diagnostics = check(new Map(examples.map(({ path, text }) => [path, text])));

  it.each(titled(examples, (one) => `${nameOf(one)}, number ${one.number}`))(
    'for %s',
    (_, { path, text }) => {
      expect(diagnostics(path), text).toEqual([]);
    },
  );
});

/** The block with the missing imports of the package's own names. Everything else the block must import itself. */
function complete(block: string): string {
  const imports = exported
    .filter(({ name }) => new RegExp(`\\b${name}\\b`).test(block))
    .filter(({ name }) => !new RegExp(`(import [^;]*|(const|function|class|let) )\\b${name}\\b`).test(block))
    .map(({ specifier, name }) => [name, `import { ${name} } from '${specifier}';`]);
  return [...new Map(imports as [string, string][]).values(), block, 'export {};'].join('\n');
}

/** Compiles files that exist only in memory. */
function check(texts: ReadonlyMap<string, string>): (path: string) => string[] {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.getSourceFile = (path, settings) => {
    const text = texts.get(path);
    return text === undefined ? getSourceFile(path, settings) : ts.createSourceFile(path, text, settings);
  };
  // With declarations for the packages that have no types.
  const program = ts.createProgram([...texts.keys(), join(root, 'test/support/untyped.d.ts')], options, host);
  return (path) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
