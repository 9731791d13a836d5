import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { root } from './root.js';
import { madeOnce } from './run-folder.js';

/** Opens an empty database. To make one keeps a core busy for seconds, a copy for half of one. */
export async function openPglite(): Promise<PGlite> {
  const file = join(root, 'node_modules/.cache/plant-store', `pglite-${version()}`);
  await madeOnce('pglite', async () => {
    if (!existsSync(file)) await makeDatabase(file);
  });
  return PGlite.create({ loadDataDir: new Blob([readFileSync(file)]) });
}

/** The runs after this one have it too, on other runtimes as well, until the next `npm ci`. */
async function makeDatabase(file: string): Promise<void> {
  const pglite = await PGlite.create();
  const data = await pglite.dumpDataDir('none');
  await pglite.close();
  mkdirSync(dirname(file), { recursive: true });
  // Under another name until it is whole: another run may make it at the same time.
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, Buffer.from(await data.arrayBuffer()));
  renameSync(unfinished, file);
}

/** That of the oldest packages, if these are tested, or of the installed one. */
function version(): string {
  const installed = join(root, 'node_modules/@electric-sql/pglite/package.json');
  return process.env.PGLITE ?? JSON.parse(readFileSync(installed, 'utf8')).version;
}
