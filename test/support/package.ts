import { execFileSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { root } from './root.js';
import { madeOnce } from './run-folder.js';

/** The subpaths that the package exports code by, as in `package.json`: `./node`. */
export const subpaths = Object.keys(packageJson.exports).filter((name) => !name.endsWith('.json'));

/** As in `import … from 'plant-store/node'`. */
export const specifierOf = (subpath: string): string => `plant-store${subpath.slice(1)}`;
export const specifiers = subpaths.map(specifierOf);

/** The package as users get it, built and packed once a run: its tarball. */
export async function packedPackage(): Promise<string> {
  const folder = await madeOnce('package', (folder) => {
    // Built in a copy, so that the repository does not change while other tests run.
    const source = join(folder, 'source');
    const isCopied = (path: string) => !/^(node_modules|dist|llms\.txt|\.git)$/.test(relative(root, path));
    cpSync(root, source, { recursive: true, filter: isCopied });
    symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
    const npm = (...args: string[]) =>
      execFileSync('npm', args, { cwd: source, stdio: ['ignore', 'ignore', 'inherit'] });
    npm('run', '--silent', 'build');
    npm('run', '--silent', 'package', folder);
  });
  return join(folder, `plant-store-${packageJson.version}.tgz`);
}
