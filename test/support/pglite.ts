import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { madeOnce } from './run-folder.js';

/** Opens an empty database. To make one keeps a core busy for seconds, a copy for half of one. */
export async function openPglite(): Promise<PGlite> {
  const folder = await madeOnce('pglite', async (folder) => {
    const pglite = await PGlite.create();
    const data = await pglite.dumpDataDir('none');
    await pglite.close();
    writeFileSync(join(folder, 'data'), Buffer.from(await data.arrayBuffer()));
  });
  return PGlite.create({ loadDataDir: new Blob([readFileSync(join(folder, 'data'))]) });
}
