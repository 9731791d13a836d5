// src/ runs on every JavaScript runtime: biome.json denies it the globals of one. adapters/ holds what plugs in, and imports
// src/, never the other way.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { filesOfTable } from '../support/pages.js';
import { root } from '../support/root.js';

/** The TypeScript files in a folder, relative to the root. */
function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

/** What a file imports, including types: packages by name, files by their path from the root. */
function importsOf(file: string, text: string): string[] {
  return ts
    .preProcessFile(text)
    .importedFiles.map(({ fileName }) =>
      fileName.startsWith('.') ? join(dirname(file), fileName).replace(/\.js$/, '.ts') : fileName,
    );
}

/** The lines that hold code: comments and blank lines do not count, so that nobody saves an explanation. */
function codeLinesOf(source: ts.SourceFile): ReadonlySet<number> {
  const lines = new Set<number>();
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node) => {
    const children = node.getChildren(source).filter(({ kind }) => kind !== ts.SyntaxKind.JSDoc);
    for (const child of children) visit(child);
    // A token may have several lines, as a template has.
    if (children.length > 0 || node.kind === ts.SyntaxKind.EndOfFileToken || node.getWidth(source) === 0)
      return;
    for (let line = lineOf(node.getStart(source)); line <= lineOf(node.end); line++) lines.add(line);
  };
  visit(source);
  return lines;
}

/** A file and its functions if they are longer than a screen, and the constructors that nobody can call without looking. */
function oversizedIn(text: string): string[] {
  const source = ts.createSourceFile('file.ts', text, ts.ScriptTarget.ES2022, true);
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const codeLines = [...codeLinesOf(source)];
  const found: string[] = codeLines.length > 180 ? [`the file has ${codeLines.length} lines`] : [];
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const [first, last] = [lineOf(node.getStart()), lineOf(node.end)];
      const lines = codeLines.filter((line) => line >= first && line <= last).length;
      // `openapi` returns a literal: the document itself.
      const isDocument = node.name?.getText() === 'openapi';
      if (lines > 40 && !isDocument) found.push(`${node.name?.getText()} has ${lines} lines`);
    }
    if (ts.isConstructorDeclaration(node) && node.parameters.length > 4) {
      found.push(`a constructor has ${node.parameters.length} parameters`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const core = filesIn('src');
const adapters = filesIn('adapters');
const published = filesIn('test/published');

/** What each room may import: the core nothing else, adapters its doors and what their neighbours share. */
function mayImport(file: string, name: string): boolean {
  if (file.startsWith('src/')) return name === 'valibot' || name.startsWith('src/');
  // No test runner, which an app may not have.
  if (file.startsWith('test/')) return /^(src|test\/published)\//.test(name);
  const isHost = file.startsWith('adapters/hosts/');
  return (
    name === 'src/index.ts' ||
    name === `src/for-${isHost ? 'hosts' : 'storages'}.ts` ||
    (isHost ? /^adapters\/hosts\/_/ : /^adapters\/storages\/_/).test(name) ||
    (file === 'adapters/hosts/express.ts' && name === 'adapters/hosts/node.ts') ||
    (file === 'adapters/hosts/fastify.ts' && name === 'node:stream')
  );
}

test.each([...core, ...adapters, ...published])('%s imports only what its room may', (file) => {
  expect(importsOf(file, read(file)).filter((name) => !mayImport(file, name))).toEqual([]);
});

// A reader sees a whole at once.
test.each([...core, ...adapters])('%s has at most 180 lines of code, and no function of over 40', (file) => {
  expect(oversizedIn(read(file))).toEqual([]);
});

describe('src', () => {
  test('the handler imports nothing that is built on top of it', () => {
    const top = [
      'src/group-commit/',
      'src/document/',
      'src/client/',
      'src/for-hosts.ts',
      'src/for-storages.ts',
      'src/plant/schema.ts',
    ];
    const doors = ['src/index.ts', 'src/for-hosts.ts', 'src/for-storages.ts'];
    const isTop = (name: string) => top.some((part) => name.startsWith(part));
    for (const file of core.filter((name) => !doors.includes(name) && !isTop(name))) {
      expect([file, importsOf(file, read(file)).filter(isTop)]).toEqual([file, []]);
    }
  });
});

// Imports of types count: a reader has to follow them too. So no file imports itself through others.
test('CONTRIBUTING names each file once, after all that it imports', () => {
  const [, section = ''] = read('.github/CONTRIBUTING.md').split('## Reading the code');
  const order = filesOfTable(section.split('\n## ')[0]!);
  expect([...order].sort()).toEqual([...core, ...adapters].sort());
  const jumps = order.flatMap((file, i) => {
    const later = importsOf(file, read(file)).filter((name) => order.indexOf(name) > i);
    return later.map((name) => `${file} imports ${name}`);
  });
  expect(jumps).toEqual([]);
});

describe('the tests', () => {
  /** What a user imports, and the clock that a simulated one implements. */
  const doors = ['src/index.ts', 'src/plant/schema.ts', 'src/client/client.ts', 'src/document/openapi.ts'];
  /** The steps of the benchmark's waterfall are inner parts, each with what it costs. */
  const rooms = /^test\/(core\/|hosts\/node\/|programs\/bench\/steps\.ts)/;
  const isInternal = (name: string) => name.startsWith('src/') && ![...doors, 'src/timers.ts'].includes(name);

  test('import the public interface, so that a new inner shape breaks none of them, outside of their rooms', () => {
    const tests = filesIn('test').filter((file) => !rooms.test(file));
    const internal = tests.map((file) => [file, importsOf(file, read(file)).filter(isInternal)]);
    expect(internal.filter(([, names]) => names!.length > 0)).toEqual([]);
  });

  test('draw random input from the seed of the run', () => {
    const drawing = filesIn('test').filter(
      (file) =>
        /\bMath\.random\(/.test(read(file)) ||
        (importsOf(file, read(file)).includes('fast-check') && !/\/(properties|setup)\.ts$/.test(file)),
    );
    expect(drawing).toEqual([]);
  });
});
