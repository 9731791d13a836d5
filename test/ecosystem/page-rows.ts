import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../examples/README.md', import.meta.url), 'utf8');

/** The variables that a line of the page uses, and what closes the library. */
export interface Library {
  readonly scope: Readonly<Record<string, unknown>>;
  readonly close: () => Promise<unknown>;
}

function sectionBelow(heading: string): string {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  return section.split(/\n#+ /)[0]!;
}

/** What the comments of a block say of what they name, behind a colon. */
export function pageNotes(heading: string): ReadonlyMap<string, string> {
  const comments = sectionBelow(heading).matchAll(/^\/\/ (.+?): (.+)$/gm);
  return new Map(Array.from(comments, ([, name, note]) => [name!, note!]));
}

/** From what is named below a heading of the page to its code: of several lines, the first one. */
export function pageRows(heading: string): ReadonlyMap<string, string> {
  return new Map([...pageCode(heading)].map(([library, [code]]) => [library, code!]));
}

/** The same with each statement. A comment in the block has the names of what the statements below it are for. */
export function pageCode(heading: string): ReadonlyMap<string, readonly string[]> {
  const [, block = ''] = /```js\n([\s\S]*?)\n```/.exec(sectionBelow(heading)) ?? [];
  return new Map(
    block
      .split(/^\/\/ /m)
      .slice(1)
      .flatMap(entriesOf),
  );
}

/** A comment with names, and the statements below it. */
function entriesOf(entry: string): [string, readonly string[]][] {
  const [names = '', ...lines] = entry.trimEnd().split('\n');
  const codes = lines
    .join('\n')
    .split(/;\n|;$/)
    .filter(Boolean);
  return names
    .split(': ')[0]!
    .split(' · ')
    .map((name) => [name, codes]);
}

/** The text that a line of the page gives this name. */
export function pageText(name: string): string {
  return new RegExp(`const ${name} = '(.+)'`).exec(page)![1]!;
}

/** Evaluates the code of a row, in which these variables are known. */
export function evaluate(code: string, scope: Readonly<Record<string, unknown>>): unknown {
  return new Function(...Object.keys(scope), `return ${code}`)(...Object.values(scope));
}
