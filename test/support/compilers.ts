import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type ts from 'typescript';
import { ecosystemFolder } from './installed.js';

/** The versions of TypeScript that apps compile with, the oldest and the newest first. */
export const compilers = ['4.7', '7.0', '4.9', '5.0', '5.4', '5.9', '6.0'] as const;

export type Version = (typeof compilers)[number];

/** Options as in tsconfig.json. */
export interface Options {
  readonly module: string;
  readonly moduleResolution: string;
  readonly target: string;
  readonly lib: readonly string[];
  /** The major version of `@types/node`, if the app has it. */
  readonly node?: number | undefined;
  readonly declaration?: boolean;
  /** Default: false. */
  readonly skipLibCheck?: boolean;
}

export interface Compiled {
  /** What the compiler says of the app's files and of the package, not of the platform's declarations. */
  readonly faults: readonly string[];
  /** The declarations of the app's files, if asked for. */
  readonly declarations: Readonly<Record<string, string>>;
}

/** What is not the app's, which a compiler with an API reads once. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Compiles the files of an app, which is in a folder with the package in its `node_modules`. */
export function compile(
  version: Version,
  folder: string,
  files: readonly string[],
  options: Options,
): Compiled {
  const { node, ...given } = options;
  const compilerOptions = {
    ...given,
    lib: [...options.lib],
    types: node ? ['node'] : [],
    typeRoots: [typesOfNode(folder, node)],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: options.skipLibCheck ?? false,
    // What the package declares is checked, and not the compiler's own: that takes most of the time of TypeScript 7.
    skipDefaultLibCheck: true,
    ...(options.declaration ? { outDir: join(folder, 'out') } : { noEmit: true }),
    ...(version === '6.0' ? { ignoreDeprecations: '6.0' } : {}),
  };
  if (version === '7.0') return compileByProgram(folder, files, compilerOptions);
  const compiler: typeof ts = createRequire(join(ecosystemFolder(), 'load.js'))(
    version === '5.9' ? 'typescript' : `typescript-${version}`,
  );
  const names = files.map((file) => join(folder, file));
  const { options: read, errors } = compiler.convertCompilerOptionsFromJson(compilerOptions, folder);
  const host = compiler.createCompilerHost(read);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) => {
    if (name.startsWith(folder)) return getSourceFile(name, ...rest);
    const key = `${version} ${options.moduleResolution} ${name} ${JSON.stringify(rest[0])}`;
    if (!parsed.has(key)) parsed.set(key, getSourceFile(name, ...rest));
    return parsed.get(key);
  };
  const program = compiler.createProgram(names, read, host);
  const own = program
    .getSourceFiles()
    .filter(({ fileName }) => names.includes(fileName) || /\/node_modules\/plant-store\//.test(fileName));
  const found = own.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
    ...(options.declaration && names.includes(file.fileName) ? program.getDeclarationDiagnostics(file) : []),
  ]);
  const declarations: Record<string, string> = {};
  if (options.declaration)
    for (const file of own.filter(({ fileName }) => names.includes(fileName)))
      program.emit(
        file,
        (name, text) => {
          if (/\.d\.[cm]?ts$/.test(name)) declarations[name] = text;
        },
        undefined,
        true,
      );
  const faults = [...errors, ...program.getOptionsDiagnostics(), ...found].map(
    ({ code, file, messageText }) =>
      `${file?.fileName.slice(folder.length) ?? ''} TS${code}: ${compiler.flattenDiagnosticMessageText(messageText, ' ')}`,
  );
  return { faults, declarations };
}

/** TypeScript 7 has no API yet: its program, which compiles all declarations in half a second. */
function compileByProgram(folder: string, files: readonly string[], compilerOptions: object): Compiled {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(ecosystemFolder(), 'node_modules/typescript-7.0/bin/tsc');
  let output = '';
  try {
    execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    output = `${(error as { stdout?: string }).stdout || error}`;
  }
  const out = join(folder, 'out');
  const names = existsSync(out) ? readdirSync(out).filter((name) => /\.d\.[cm]?ts$/.test(name)) : [];
  const declarations = names.map((name) => [name, readFileSync(join(out, name), 'utf8')]);
  const faults = output
    .split('\n')
    .filter((line) => /^(?!\s)[^(]*(?:\/node_modules\/plant-store\/|\/app-\w+\/|^error)/.test(line));
  return { faults, declarations: Object.fromEntries(declarations) };
}

/** A folder that has `@types/node` of one version, and nothing else. */
function typesOfNode(folder: string, version: number | undefined): string {
  const types = join(folder, `types-${version ?? 'none'}`);
  if (existsSync(types)) return types;
  mkdirSync(types);
  if (version)
    symlinkSync(join(ecosystemFolder(), `node_modules/types-node-${version}`), join(types, 'node'));
  return types;
}
