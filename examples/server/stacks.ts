/** The pages of whole apps, by host and database. */
const pages: ReadonlyMap<string, string> = new Map([
  ['express postgres', 'express-postgres'],
  ['fastify mysql', 'fastify-mysql'],
  ['hono d1', 'hono-workers'],
  ['next turso', 'next-turso'],
  ['nest postgres', 'nest-typeorm'],
  ['sveltekit sqlite', 'sveltekit-sqlite'],
]);

const pathOf = (page: string) => `examples/stacks/${page}.md`;

/** What the page of NestJS takes from that of Express: a file there, and its path here. */
const ofExpress: Readonly<Record<string, string>> = {
  'settings.js': 'src/settings.js',
  'users.js': 'src/users.js',
  'forms.js': 'src/forms.js',
  'views/plants.ejs': 'views/plants.ejs',
};

/** The path of the page in the package that has a whole app of this host and database, if there is one. */
export function stackOf(host: string | undefined, database: string | undefined): string | undefined {
  const page = pages.get(`${host} ${database}`);
  return page && pathOf(page);
}

/** The files of the app of a page. `read` returns the text of a file of the package. */
export function filesOfStack(path: string, read: (path: string) => string): Readonly<Record<string, string>> {
  const files = filesOfPage(read(path));
  if (path !== pathOf('nest-typeorm')) return files;
  const shared = filesOfPage(read(pathOf('express-postgres')));
  const copied = Object.entries(ofExpress).map(([there, here]) => [here, shared[there]!]);
  return { ...files, ...Object.fromEntries(copied) };
}

/**
 * Returns the files that a page shows, by their paths: each block of code below a line that ends with its path and a colon, as in
 * "The server, in `server.js`:".
 */
export function filesOfPage(page: string): Readonly<Record<string, string>> {
  const blocks = page.matchAll(/`([^`\n]+)`:\n+```\w*\n([\s\S]*?)^```$/gm);
  return Object.fromEntries([...blocks].map(([, path, text]) => [path!, text!]));
}
