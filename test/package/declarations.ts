// Part of `npm run build`: the declarations of the package.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsup';
import ts from 'typescript';
import { entries } from '../../tsup.config.js';
import { root } from '../support/root.js';

const dist = join(root, 'dist');
/** The declarations of each source, from which tsup makes one file an entry: from the sources, it takes three times as long. */
const bySource = join(dist, 'types');

function declareSources(): void {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const files = Object.values(entries).map((file) => join(root, file));
  const program = ts.createProgram(files, {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // `npm run check` does.
    noCheck: true,
    rootDir: root,
    outDir: bySource,
  });
  const { diagnostics } = program.emit();
  if (diagnostics.length > 0)
    throw new Error(
      ts.formatDiagnostics(diagnostics, {
        getCanonicalFileName: String,
        getCurrentDirectory: () => root,
        getNewLine: () => '\n',
      }),
    );
}

async function bundleDeclarations(): Promise<void> {
  const declared = Object.entries(entries).map(([name, file]) => [
    name,
    join(bySource, file.replace(/ts$/, 'd.ts')),
  ]);
  await build({
    config: false,
    entry: Object.fromEntries(declared),
    format: ['esm', 'cjs'],
    dts: { only: true },
    outDir: dist,
    silent: true,
  });
  rmSync(bySource, { recursive: true });
}

/** A name of an import or an export: `type PlantHandler as a`. */
const listed = /(?:type )?(\w+)(?: as (\w+))?/g;

/** By the name of each shared file, the names that it exports by one letter, and those of its declarations. */
function sharedNames(texts: ReadonlyMap<string, string>): Map<string, Map<string, string>> {
  const shared = [...texts].filter(([name]) => !Object.hasOwn(entries, name.replace(/\.d\.c?ts$/, '')));
  return new Map(
    shared.map(([name, text]) => {
      const [, names] = /^export (?:type )?\{ (.+) \};$/m.exec(text)!;
      const pairs = [...names!.matchAll(listed)].map(([, own, as]) => [as ?? own!, own!] as const);
      return [name, new Map(pairs)];
    }),
  );
}

/**
 * Exports each declaration of a shared file where it is and by its own name. Up to TypeScript 5.3, the declarations of an app
 * otherwise import it from the shared file, whose name is another one in each version, and never from an entry.
 */
function exportInPlace(text: string, names: ReadonlyMap<string, string>): string {
  const own = [...names.values()].join('|');
  const declaration = new RegExp(
    `^(?=(?:declare )?(?:abstract )?(?:type|interface|class|const|function) (?:${own})\\b)`,
    'gm',
  );
  // Without `export {}`, everything in a declaration file is exported.
  return text.replace(/^export (?:type )?\{ .+ \};$/m, 'export {};').replace(declaration, 'export ');
}

function finish(): void {
  const files = readdirSync(dist).filter((name) => /\.d\.c?ts$/.test(name));
  const texts = new Map(files.map((name) => [name, readFileSync(join(dist, name), 'utf8')]));
  const shared = sharedNames(texts);
  for (const [name, text] of texts) {
    const names = shared.get(name);
    const ending = name.endsWith('.cts') ? 'cts' : 'ts';
    const finished = (names ? exportInPlace(text, names) : text)
      .replace(/\{ ([^{}]+) \} from '\.\/(.+)\.c?js'/g, (all, list: string, from: string) => {
        const exported = shared.get(`${from}.d.${ending}`);
        if (!exported) return all;
        return all.replace(
          list,
          list.replace(listed, (_, as, here = as) => {
            const own = exported.get(as)!;
            return own === here ? own : `${own} as ${here}`;
          }),
        );
      })
      // The sources of tsup are declarations: `http.d-nSLYcf3c.js`.
      .replace(/\.d-/g, '-')
      // tsup indents by four spaces. By tabs, the package is 12 kB smaller.
      .replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4));
    // An app that exports what an entry returns needs a name for its types, in its own declarations. The compiler looks for
    // it in the modules of the program: those that all entries share have their names in plant-store itself.
    const core = `import './index.${ending === 'cts' ? 'cjs' : 'js'}';\n`;
    rmSync(join(dist, name));
    writeFileSync(
      join(dist, name.replace('.d-', '-')),
      names || name.startsWith('index.') ? finished : core + finished,
    );
  }
}

declareSources();
await bundleDeclarations();
finish();
