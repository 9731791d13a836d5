import { join } from 'node:path';
import { filesOf, type InitOptions, writeNew } from '../../examples/server/init.js';
import { bundleTo } from './bundle.js';
import { startProgram, untilTestEnds } from './program.js';
import { newFolder } from './run-folder.js';

/** What `plant-store init --write` writes, in the folder of an app that has the packages. */
export function initProgram(options: InitOptions) {
  const folder = newFolder();
  const files = filesOf(options, folder);
  writeNew(files, folder);
  const [file = ''] = Object.keys(files);
  const outfile = join(folder, 'bundle.mjs');
  /** Bundles the program with the library's sources, and returns the bundle. */
  const bundle = () => {
    bundleTo(outfile, join(folder, file));
    return outfile;
  };
  return {
    folder,
    /** The migration. */
    sql: files['plants.sql'] ?? '',
    bundle,
    /** Starts the bundle for as long as the test runs. */
    start: (env: Record<string, string> = {}) =>
      untilTestEnds(startProgram([process.execPath, bundle()], env)),
  };
}
