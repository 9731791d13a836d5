// `npm run build` writes llms.txt (https://llmstxt.org), the pages for programs that read, from the source and the pages.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorNumbers } from 'plant-store';
import ts from 'typescript';
import { exportsOfPackage, type PackageExport } from '../support/compiler.js';
import { anchorOf } from '../support/pages.js';
import { root } from '../support/root.js';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Documented {
  readonly name: string;
  /** The first sentence of its doc comment. */
  readonly text: string;
}

interface Export extends Documented {
  readonly members: readonly Documented[];
}

const item = ({ name, text }: Documented) => `- \`${name}\`: ${text}`;

/** Every export of the package by its subpath. */
function exportsBySubpath(): Map<string, Export[]> {
  const { checker, exported } = exportsOfPackage();
  const sentence = (symbol: ts.Symbol) => {
    const doc = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\s+/g, ' ');
    return /^.*?\.(?= |$)/.exec(doc)?.[0] ?? doc;
  };
  // Of an interface of options, each option.
  const membersOf = ({ name, symbol }: PackageExport) =>
    /Options$/.test(name)
      ? checker
          .getDeclaredTypeOfSymbol(symbol)
          .getProperties()
          .map((member) => ({ name: member.name, text: sentence(member) }))
      : [];
  const found = new Map<string, Export[]>();
  for (const one of exported) {
    const { specifier, name, symbol } = one;
    const others = found.get(specifier) ?? [];
    found.set(specifier, [...others, { name, text: sentence(symbol), members: membersOf(one) }]);
  }
  return found;
}

/** The rows of the first table under a heading, each as a list item. */
function rowsUnder(page: string, heading: string): string[] {
  const [, section = ''] = new RegExp(`\\n## ${heading}\\n([\\s\\S]*?)(?=\\n## |$)`).exec(page) ?? [];
  const [, , ...rows] = section.match(/^\|.*\|$/gm) ?? [];
  return rows.map((row) => {
    const [first, ...rest] = row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return `- ${first}: ${rest.filter(Boolean).join('; ')}`;
  });
}

function llmsText(): string {
  const readme = read('README.md');
  const [, summary, scope] = readme.split('\n\n');
  const recipes = [...read('examples/README.md').matchAll(/^###? (.+)$/gm)].map(
    ([, heading = '']) => heading,
  );
  const statuses = new Map(
    [...read('src/README.md').matchAll(/^\| (\d{5}) \| .* \| (.*) \|$/gm)].map(([, code, when]) => [
      code,
      when,
    ]),
  );
  const sections: Record<string, string[]> = {
    'Quick start': [readme.slice(readme.indexOf('```js'), readme.indexOf('```http')).trim()],
    'Your stack': rowsUnder(readme, 'Your stack'),
    'Frameworks and runtimes': rowsUnder(readme, 'Frameworks and runtimes'),
    Databases: rowsUnder(readme, 'Databases'),
    Options: rowsUnder(readme, 'Options'),
    'Error codes': Object.entries(errorNumbers).map(
      ([name, error]) => `- ${error} \`${name}\`: ${statuses.get(String(error))}`,
    ),
    Exports: [...exportsBySubpath()].flatMap(([specifier, names]) => [
      `\n### ${specifier}\n`,
      ...names.flatMap((one) => [item(one), ...one.members.map((member) => `  ${item(member)}`)]),
    ]),
    Recipes: recipes.map((heading) => `- [${heading}](examples/README.md#${anchorOf(heading)})`),
    Pages: [...rowsUnder(readme, 'Documentation'), '- [OpenAPI document](dist/openapi.json)'],
  };
  const body = Object.entries(sections).map(
    ([heading, lines]) => `## ${heading}\n\n${lines.join('\n').trim()}\n`,
  );
  return `# plant-store\n\n> ${summary}\n\n${scope}\n\n${body.join('\n')}`;
}

writeFileSync(join(root, 'llms.txt'), llmsText());
