// A member of a plant is written once: the compiler names every place that would drop a new one.
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { compilerOptions, entryFiles } from '../support/compiler.js';
import { root } from '../support/root.js';

const plantFile = join(root, 'src/plant/plant.ts');

/** The files with type errors after `Plant` has got another member. */
function filesThatForget(member: string): string[] {
  const host = ts.createCompilerHost(compilerOptions);
  const { getSourceFile } = host;
  const heading = 'export interface Plant {';
  host.getSourceFile = (file, ...rest) => {
    const source = getSourceFile(file, ...rest);
    if (!source || relative(plantFile, file) !== '') return source;
    expect(source.text).toContain(heading);
    const text = source.text.replace(heading, `${heading} ${member}`);
    return ts.createSourceFile(file, text, source.languageVersion, true);
  };
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram(entryFiles, compilerOptions, host));
  return [...new Set(diagnostics.map(({ file }) => relative(root, file!.fileName)))].sort();
}

it('a new optional member of a plant is a type error in each room that would drop it', () => {
  const rooms = filesThatForget('readonly isOfThisTest?: number | undefined;').map(dirname);
  expect(rooms).toEqual(
    expect.arrayContaining([
      'adapters/storages/_shared',
      'src/client',
      'src/document',
      'src/group-commit',
      'src/plant',
      'test/published',
    ]),
  );
});
