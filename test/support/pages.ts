import { dirname, join } from 'node:path';

/** The relative links of a page: a file, of which none is the page itself, and an anchor, of which none is the top. */
export function linksOf(page: string): [file: string, anchor: string][] {
  return [...page.matchAll(/\]\(([^)#]*)#?([^)]*)\)|(?:src|srcset)="([^"]+)"/g)]
    .map(([, file, anchor, picture]): [string, string] => [file ?? picture!, anchor ?? ''])
    .filter(([file]) => !/^\w+:/.test(file));
}

/** The anchor that a heading has on GitHub and npm. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

/** The anchors of a page: its headings, and what it names itself. */
export const anchorsOf = (page: string) => [
  ...[...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!)),
  ...[...page.matchAll(/<a id="(\w+)">/g)].map(([, id]) => id!),
];

/** The files that a table names: one without `src/` or `adapters/` is relative to the folder of the one before it. */
export function filesOfTable(table: string): string[] {
  const files: string[] = [];
  for (const [, name] of table.matchAll(/`([\w/-]+\.ts)`/g))
    files.push(/^(src|adapters)\//.test(name!) ? name! : join(dirname(files.at(-1)!), name!));
  return files;
}
