// The types of the files that tsconfig.json leaves out, because their packages are not there when it is read.
import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { compilerOptions } from '../support/compiler.js';
import { ecosystemFolder } from '../support/installed.js';
import { root } from '../support/root.js';

const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
// The apps have their own packages, and compile themselves (apps.heavy.ts).
const names = (config.exclude as string[]).filter((name) => name !== 'test/ecosystem/apps');
const files = names.map((file) => join(root, file));

/** A package is looked for as if a file next to the installed ones had imported it. */
const importer = join(ecosystemFolder(), 'importer.ts');
const host = ts.createCompilerHost(compilerOptions);
host.resolveModuleNameLiterals = (names, importing, redirected, options, source) =>
  names.map((name) => {
    const from = files.includes(importing) && !name.text.startsWith('.') ? importer : importing;
    const mode = ts.getModeForUsageLocation(source, name, options);
    // Next has no `exports`: its own compiler options find `next/headers` without an end.
    // Turbopack finds no .ts by .js, so that programs for it import each other without an end, too.
    const withoutEnd = files.includes(importing) ? /^(next|\.\.?)\/[\w/-]+$/ : /^next\/\w+$/;
    const file = name.text.replace(withoutEnd, '$&.js');
    return ts.resolveModuleName(file, from, options, host, undefined, redirected, mode);
  });
const program = ts.createProgram(
  [...files, join(root, 'test/support/untyped.d.ts')],
  // Next's programs are for a browser, too.
  {
    ...compilerOptions,
    types: ['node'],
    jsx: ts.JsxEmit.ReactJSX,
    lib: [...(compilerOptions.lib ?? []), 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  },
  host,
);

it.each(files.map((file) => relative(root, file)))('%s has no type error', (file) => {
  const found = ts.getPreEmitDiagnostics(program, program.getSourceFile(join(root, file)));
  expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});
