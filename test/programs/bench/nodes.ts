/** The versions of Node that the rows are measured on. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './build.js';

export interface NodeProgram {
  readonly path: string;
  readonly version: string;
}

/** Where a Node 26 may be: where the variable says, where npm installs `node26@npm:node-<platform>@26`, or on the PATH. */
const places = [process.env.NODE26, join(root, 'node_modules/node26/bin/node'), 'node26'];

/** The version of a program; `undefined` if there is none. */
function versionOf(path: string): string | undefined {
  const { stdout, status } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim().slice(1) : undefined;
}

/**
 * The Node that runs the benchmark, and then a Node 26 if one is installed.
 *
 * @param wanted the beginning of a version, such as `26`: only those
 * @throws {Error} if none has that version, or `NODE26` names another program
 */
export function nodesToMeasure(wanted = ''): readonly NodeProgram[] {
  const nodes: NodeProgram[] = [{ path: process.execPath, version: process.versions.node }];
  if (!process.versions.node.startsWith('26.')) {
    for (const path of places) {
      const version = path && versionOf(path);
      if (version?.startsWith('26.')) {
        nodes.push({ path: path!, version });
        break;
      }
      if (path && path === process.env.NODE26)
        throw new Error(`NODE26 must be a Node 26, got ${version ?? path}`);
    }
  }
  const found = nodes.filter(({ version }) => version.startsWith(wanted));
  if (found.length === 0)
    throw new Error(`no Node ${wanted} is installed: README.md says where it is looked for`);
  return found;
}
