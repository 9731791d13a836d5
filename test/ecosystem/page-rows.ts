import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../examples/README.md', import.meta.url), 'utf8');

/** The variables that a line of the page uses, and what closes the library. */
export interface Library {
  readonly scope: Readonly<Record<string, unknown>>;
  readonly close: () => Promise<unknown>;
}

/** The table of the page below a heading. */
function tableBelow(heading: string): string {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  return section.split(/\n#+ /)[0]!;
}

/** The last columns of a table of the page, by the first one. */
export function pageNotes(heading: string): ReadonlyMap<string, string> {
  const rows = tableBelow(heading).matchAll(/^\| ([^|]+) \| .* \| ([^|]*) \|$/gm);
  return new Map(Array.from(rows, ([, first, last]) => [first!, last!]));
}

/** The rows of a table of the page: what is in the first column, and the code in the second. */
export function pageRows(heading: string): ReadonlyMap<string, string> {
  return new Map([...pageCode(heading)].map(([library, [code]]) => [library, code!]));
}

/** The same with the code of each column that has some. A `…` at its beginning stands for the code of the column before. */
export function pageCode(heading: string): ReadonlyMap<string, readonly string[]> {
  const rows = tableBelow(heading).matchAll(/^\| ([^|]+) ((?:\| (`+).+?\3 )+)\|/gm);
  return new Map(
    Array.from(rows, ([, library, cells]) => {
      const codes = Array.from(cells!.matchAll(/\| (`+)(.+?)\1 /g), ([, , code]) => code!);
      return [library!.replaceAll('`', ''), codes.map((code) => code.replace(/^…/, codes[0]!))];
    }),
  );
}

/** The text that a line of the page gives this name. */
export function pageText(name: string): string {
  return new RegExp(`\`const ${name} = '(.+)'\``).exec(page)![1]!;
}

/** Evaluates the code of a row, in which these variables are known. */
export function evaluate(code: string, scope: Readonly<Record<string, unknown>>): unknown {
  return new Function(...Object.keys(scope), `return ${code}`)(...Object.values(scope));
}
