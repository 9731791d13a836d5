// Part of `npm run build`, after tsup has ended: until then its declarations may be missing.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { root } from '../support/root.js';

// tsup indents by four spaces. By tabs, the package is 12 kB smaller.
for (const name of readdirSync(`${root}dist`).filter((name) => /\.d\.c?ts$/.test(name))) {
  const file = `${root}dist/${name}`;
  const text = readFileSync(file, 'utf8').replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4));
  const [, entry, ending] = /^(\w+)\.d\.(c?ts)$/.exec(name) ?? [];
  // An app that exports what an entry returns needs a name for its types, in its own declarations. The compiler looks for
  // it in the modules of the program: those that all entries share have their names in plant-store itself.
  const core = `import './index.${ending === 'cts' ? 'cjs' : 'js'}';\n`;
  writeFileSync(file, entry && entry !== 'index' ? core + text : text);
}
