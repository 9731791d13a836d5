import { join } from 'node:path';
import ts from 'typescript';
import { entries } from '../../tsup.config.js';
import { root } from './root.js';

/** The options of tsconfig.json. */
export const compilerOptions = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  root,
).options;

/** The source of each subpath of the package. */
export const entryFiles = Object.values(entries).map((file) => join(root, file));

/** An export of the package, as the compiler sees it. */
export interface PackageExport {
  /** As in `import … from 'plant-store/node'`. */
  readonly specifier: string;
  readonly name: string;
  /** The symbol itself, not the alias of a module that exports it again. */
  readonly symbol: ts.Symbol;
}

/** Every export of the package, in the order of its subpaths, and what tells their types. */
export function exportsOfPackage(): { readonly checker: ts.TypeChecker; readonly exported: PackageExport[] } {
  const program = ts.createProgram(entryFiles, compilerOptions);
  const checker = program.getTypeChecker();
  const exported = Object.entries(entries).flatMap(([entry, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(join(root, file))!)!;
    return checker.getExportsOfModule(module).map((symbol) => ({
      specifier: entry === 'index' ? 'plant-store' : `plant-store/${entry}`,
      name: symbol.name,
      symbol: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    }));
  });
  return { checker, exported };
}
