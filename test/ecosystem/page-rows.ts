import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../examples/README.md', import.meta.url), 'utf8');

/** The variables that a line of the page uses, and what closes the library. */
export interface Library {
  readonly scope: Readonly<Record<string, unknown>>;
  readonly close: () => Promise<unknown>;
}

/** The rows of a table of the page: what is in the first column, and the code in the second. */
export function pageRows(heading: string): ReadonlyMap<string, string> {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const [table = ''] = section.split(/\n#+ /);
  const rows = table.matchAll(/^\| ([^|]+) \| (`+)(.+?)\2 \|/gm);
  return new Map(Array.from(rows, ([, library, , code]) => [library!.replaceAll('`', ''), code!]));
}

/** Evaluates the code of a row, in which these variables are known. */
export function evaluate(code: string, scope: Readonly<Record<string, unknown>>): unknown {
  return new Function(...Object.keys(scope), `return ${code}`)(...Object.values(scope));
}
