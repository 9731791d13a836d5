import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// Tests may stub the global one.
import { setTimeout } from 'node:timers/promises';
import { root } from './root.js';

/** A folder for what the tests of one run share, and the programs that they start. The packages of the repository are found from it. */
export function runFolder(): string {
  if (!process.env.RUN_FOLDER) {
    const folder = create();
    process.env.RUN_FOLDER = folder;
    process.once('exit', () => remove(folder));
  }
  return process.env.RUN_FOLDER;
}

/** A folder of a test, which is removed after the run. */
export function newFolder(): string {
  return mkdtempSync(join(runFolder(), 'test-'));
}

/** The path of a new database file of a test. */
export const newFile = (): string => join(newFolder(), 'plants.db');

/** A folder that the first test of a run fills, and all others wait for. */
export async function madeOnce(name: string, fill: (folder: string) => unknown): Promise<string> {
  const folder = join(runFolder(), name);
  const ready = join(folder, 'ready');
  try {
    mkdirSync(folder);
  } catch {
    while (!existsSync(ready)) await setTimeout(20);
    return folder;
  }
  await fill(folder);
  writeFileSync(ready, '');
  return folder;
}

/** Vitest's global setup: its workers do not live to remove the folder. */
export default function setup(): () => void {
  const folder = create();
  process.env.RUN_FOLDER = folder;
  return () => remove(folder);
}

function create(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plants-run-'));
  // The account that runs PostgreSQL reads it too.
  chmodSync(folder, 0o755);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  // What `plant-store init` prints: the package has these files too.
  symlinkSync(join(root, 'examples'), join(folder, 'examples'), 'junction');
  return folder;
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
