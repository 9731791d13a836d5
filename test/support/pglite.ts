import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { runFolder } from './run-folder.js';

/** Opens an empty database, which the first test of a run makes: that keeps a core busy for seconds, a copy for half of one. */
export async function openPglite(): Promise<PGlite> {
  const folder = join(runFolder(), 'pglite');
  const file = join(folder, 'data');
  try {
    mkdirSync(folder);
  } catch {
    while (!existsSync(file)) await setTimeout(20);
    return PGlite.create({ loadDataDir: new Blob([readFileSync(file)]) });
  }
  const pglite = await PGlite.create();
  const data = await pglite.dumpDataDir('none');
  writeFileSync(`${file}.new`, Buffer.from(await data.arrayBuffer()));
  renameSync(`${file}.new`, file);
  return pglite;
}
