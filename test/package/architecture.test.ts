// src/ runs on every JavaScript runtime. adapters/ holds what plugs in, and imports src/, never the other way.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
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

/** Which of these global names a file uses. */
function globalsOf(text: string, names: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (node: ts.Node) => {
    if (ts.isIdentifier(node) && names.includes(node.text)) {
      const { parent } = node;
      const member = ts.isPropertyAccessExpression(parent) && parent.name === node;
      if (!member && !ts.isTypeReferenceNode(parent)) found.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('file.ts', text, ts.ScriptTarget.ES2022, true));
  return [...found];
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
      if (lines > 50 && !isDocument) found.push(`${node.name?.getText()} has ${lines} lines`);
    }
    if (ts.isConstructorDeclaration(node) && node.parameters.length > 4) {
      found.push(`a constructor has ${node.parameters.length} parameters`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The names of runtimes in a file's code and strings; comments may name them. */
function runtimesIn(text: string): string[] {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, removeComments: true },
  });
  return outputText.match(/\b(Deno|Bun|process|workerd|WorkerGlobalScope|navigator|EdgeRuntime)\b/g) ?? [];
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const core = filesIn('src');
const adapters = filesIn('adapters');
const published = filesIn('test/published');

/** What a file of `adapters/` may import: the doors of `src/`, what its neighbours share, and `toNode` under Express's name. */
const isAllowed = (file: string, name: string) => {
  const isHost = file.startsWith('adapters/hosts/');
  const doors = isHost ? ['src/index.ts', 'src/for-hosts.ts'] : ['src/index.ts'];
  const shared = isHost ? /^adapters\/hosts\/_/ : /^adapters\/storages\/_/;
  return (
    doors.includes(name) ||
    shared.test(name) ||
    (file === 'adapters/hosts/express.ts' && name === 'adapters/hosts/node.ts') ||
    (file === 'adapters/hosts/fastify.ts' && name === 'node:stream')
  );
};

test('the checks below find what they look for', () => {
  const text = `
    import type { A } from 'pg'; export * from '../hosts/koa.js'; const b = await import('node:fs');
    // import 'commented'
    eval('1'); new Function(''); const process = a.Buffer;`;
  expect(importsOf('adapters/storages/x.ts', text)).toEqual(['pg', 'adapters/hosts/koa.ts', 'node:fs']);
  expect(globalsOf(text, ['eval', 'Function', 'Buffer', 'process'])).toEqual(['eval', 'Function', 'process']);
  expect(runtimesIn("// Deno\nconst isShared = 'Deno' in globalThis;")).toEqual(['Deno']);
  expect(
    oversizedIn(`class A { constructor(a, b, c, d, e) {} }\nfunction long() {${'\na();'.repeat(50)}}`),
  ).toEqual(['a constructor has 5 parameters', 'long has 51 lines']);
  expect(oversizedIn('a();\n'.repeat(181))).toEqual(['the file has 181 lines']);
  const remark = '// Why.\n\n/** What.\n * For whom. */\n';
  expect(oversizedIn(`function short() {${`${remark}a();\n`.repeat(48)}}\n${remark.repeat(200)}`)).toEqual(
    [],
  );
  expect(core.length).toBeGreaterThan(10);
  expect(adapters.length).toBeGreaterThan(5);
});

describe('src', () => {
  test.each(core)('%s imports only src and valibot', (file) => {
    const foreign = importsOf(file, read(file)).filter(
      (name) => name !== 'valibot' && !name.startsWith('src/'),
    );
    expect(foreign).toEqual([]);
  });

  test.each([...core, ...published])('%s uses no eval and no global of a single runtime', (file) => {
    expect(
      globalsOf(read(file), ['eval', 'Function', 'process', 'Buffer', 'require', 'Bun', 'Deno']),
    ).toEqual([]);
  });

  test('the handler imports nothing that is built on top of it', () => {
    const top = [
      'src/group-commit/',
      'src/document/',
      'src/client/',
      'src/for-hosts.ts',
      'src/plant/schema.ts',
    ];
    const doors = ['src/index.ts', 'src/for-hosts.ts'];
    const isTop = (name: string) => top.some((part) => name.startsWith(part));
    for (const file of core.filter((name) => !doors.includes(name) && !isTop(name))) {
      expect([file, importsOf(file, read(file)).filter(isTop)]).toEqual([file, []]);
    }
  });

  test('no file imports itself through others', () => {
    // Imports of types count: a reader has to follow them too.
    const imports = new Map(
      core.map((file) => [file, importsOf(file, read(file)).filter((name) => name.startsWith('src/'))]),
    );
    const cycles: string[] = [];
    const follow = (file: string, path: readonly string[]) => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' > '));
      else for (const next of imports.get(file) ?? []) follow(next, [...path, file]);
    };
    for (const file of core) follow(file, []);
    expect(cycles).toEqual([]);
  });
});

describe('adapters', () => {
  test.each(adapters)('%s imports only the doors of src: no host, no driver, no other adapter', (file) => {
    const foreign = importsOf(file, read(file)).filter((name) => !isAllowed(file, name));
    expect(foreign).toEqual([]);
  });
});

describe('a reader sees a whole at once', () => {
  test.each([...core, ...adapters])(
    '%s has at most 180 lines of code, and no function of over 50',
    (file) => {
      expect(oversizedIn(read(file))).toEqual([]);
    },
  );
});

describe('the published tests', () => {
  test.each(published)('%s imports only src and its neighbours: no test runner', (file) => {
    const foreign = importsOf(file, read(file)).filter(
      (name) => !name.startsWith('src/') && !name.startsWith('test/published/'),
    );
    expect(foreign).toEqual([]);
  });
});

describe('the tests', () => {
  /** What a user imports, and the clock that a simulated one implements. */
  const doors = ['src/index.ts', 'src/plant/schema.ts', 'src/client/client.ts', 'src/document/openapi.ts'];
  const rooms = /^test\/(core|hosts\/node)\//;
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
    // An address of the machine, which no outcome depends on.
    expect(drawing).toEqual(['test/programs/cluster/configuration.ts']);
  });
});
