// The doc comments that an editor shows for the exports of the package.
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { entries } from '../../tsup.config.js';
import { root } from '../support/root.js';
import { titled } from '../support/titled.js';

const config = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  root,
);
// The imports that `complete` adds may be types or values.
const options: ts.CompilerOptions = { ...config.options, verbatimModuleSyntax: false };

interface Export {
  readonly specifier: string;
  readonly name: string;
  readonly file: string;
  readonly kind: 'function' | 'class' | 'constant' | 'type';
  readonly declaration: ts.Node;
}

const files = Object.values(entries).map((file) => join(root, file));
const library = ts.createProgram(files, options);
const exported = Object.entries(entries).flatMap(([entry, file]) =>
  exportsOf(entry === 'index' ? 'plant-store' : `plant-store/${entry}`, join(root, file)),
);

function exportsOf(specifier: string, file: string): Export[] {
  const checker = library.getTypeChecker();
  const module = checker.getSymbolAtLocation(library.getSourceFile(file) as ts.SourceFile) as ts.Symbol;
  return checker.getExportsOfModule(module).map((symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const declaration = target.declarations?.[0] as ts.Node;
    const calls = checker.getTypeOfSymbol(target).getCallSignatures().length > 0;
    return {
      specifier,
      name: symbol.name,
      file: relative(root, declaration.getSourceFile().fileName),
      kind:
        target.flags & ts.SymbolFlags.Class
          ? 'class'
          : target.flags & ts.SymbolFlags.Value
            ? calls
              ? 'function'
              : 'constant'
            : 'type',
      declaration,
    };
  });
}

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

  const called = exported.filter(({ kind }) => kind === 'function' || kind === 'class');
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

  it('the check can fail: three errors are found', () => {
    const path = join(root, 'wrong.example.ts');
    const text = complete('createPlantStore(memoryStorage(), acceptTokens(1), { limit: 2 }); nobody();');
    expect(check(new Map([[path, text]]))(path)).toHaveLength(3);
  });
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
