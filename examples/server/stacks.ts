import { basename } from 'node:path';

/** Texts by their paths from the folder of the app. */
export type InitFiles = Readonly<Record<string, string>>;

/** The pages of whole apps, by host and database. */
const pages: ReadonlyMap<string, string> = new Map([
  ['express postgres', 'express-postgres'],
  ['fastify mysql', 'fastify-mysql'],
  ['hono d1', 'hono-workers'],
  ['hono durable-object', 'hono-durable-objects'],
  ['next turso', 'next-turso'],
  ['nest postgres', 'nest-typeorm'],
  ['sveltekit sqlite', 'sveltekit-sqlite'],
  ['bun sqlite', 'bun-deno-sqlite'],
  ['deno sqlite', 'bun-deno-sqlite'],
]);

const pathOf = (page: string) => `examples/stacks/${page}.md`;

/** The path of the page in the package that has a whole app of this host and database, if there is one. */
export function stackOf(host: string | undefined, database: string | undefined): string | undefined {
  const page = pages.get(`${host} ${database}`);
  return page && pathOf(page);
}

const pairs = [...pages.keys()].map((pair) => pair.split(' '));

export const hostsWithPage = pairs.map(([host]) => host!);

/** The databases on which a host has a page. */
export const databasesOf = (host: string): string[] =>
  pairs.filter(([name]) => name === host).map(([, database]) => database!);

/** The hosts that have a page on a database. */
export const hostsOn = (database: string): string[] =>
  pairs.filter(([, name]) => name === database).map(([host]) => host!);

/** The files of the app of a page, on one of its hosts. `read` returns the text of a file of the package. */
export function filesOfStack(path: string, read: (path: string) => string, host?: string): InitFiles {
  const page = read(path);
  const files = Object.entries({ ...filesTaken(page, read), ...filesOfPage(page) });
  return Object.fromEntries(files.map(([name, text]) => [name, textOn(host, page, text)]));
}

/** The text for the host in the second column of a page for two hosts, whose rows say what to replace: its files are for the first. */
export function textOn(host: string | undefined, page: string, text: string): string {
  const [, second] = /^\| \w+ \| (\w+) \|$/m.exec(page) ?? [];
  if (host === undefined || second?.toLowerCase() !== host) return text;
  const rows = page.matchAll(/^\| `(.+)` \| `(.+)` \|$/gm);
  return [...rows].reduce((text, [, from, to]) => text.replaceAll(from!, to!), text);
}

/** What a page takes from the page that it names first, by its table of files, paths here, words there and words here. */
function filesTaken(page: string, read: (path: string) => string): InitFiles {
  const [, source = ''] = /\]\(([\w-]+)\.md\)/.exec(page) ?? [];
  const rows = page.matchAll(
    /^\| (`[^|]+`) \| (?:`([^|]+\/)`)? ?\| (?:`([^|]+)`)? ?\| (?:`([^|]+)`|nothing)? ?\|$/gm,
  );
  const taken: Record<string, string> = {};
  for (const [, names, folder, from = '', to = ''] of rows)
    for (const name of names!.replaceAll('`', '').split(', ')) {
      const here = folder ? folder + basename(name) : name;
      const text = taken[here] ?? filesOfPage(read(pathOf(source)))[name];
      if (!text?.includes(from)) throw new Error(`${source}.md has no ${name} with ${from}`);
      taken[here] = from ? text.replaceAll(from, to) : text;
    }
  return taken;
}

/**
 * Returns the files that a page shows, by their paths: each block of code below a line that ends with its path and a colon, as in
 * "The server, in `server.js`:". A block without such a line may hold several short files, each below a comment that is its path.
 */
export function filesOfPage(page: string): InitFiles {
  const blocks = page.matchAll(/(?:`([^`\n]+)`:\n+)?^```\w*\n([\s\S]*?)^```$/gm);
  return Object.fromEntries(
    [...blocks].flatMap(([, path, text]) => (path ? [[path, text!]] : shortFiles(text!))),
  );
}

function shortFiles(block: string): string[][] {
  const [before, ...files] = block.split(/^\/\/ (\S+\.\w+)\n/m);
  if (before !== '') return [];
  return files.flatMap((path, i) => (i % 2 === 0 ? [[path, `${files[i + 1]!.trim()}\n`]] : []));
}
