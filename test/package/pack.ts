// `npm run --silent package`: packs what npm publishes, after a build, and prints the path of the tarball.
//
// Resolvers that do not know `exports` (Jest before 28, eslint-import-resolver-node) look for a folder `plant-store/node`. Each
// subpath gets one here, in a copy: the repository has no such folders. Compilers that do not know `exports` read `typesVersions`:
// led by a folder's `types`, they would name files of dist/ in the declarations of an app.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'node:process';
import packageJson from '../../package.json' with { type: 'json' };
import { root } from '../support/root.js';

const npm = (cwd: string, ...args: string[]) =>
  execFileSync('npm', [...args, '--ignore-scripts'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** Where the tarball is put: a folder that is not packed itself. */
const destination = argv[2] ?? join(root, 'node_modules/.cache');

const copy = mkdtempSync(join(tmpdir(), 'plant-store-package-'));
const [{ files }] = JSON.parse(npm(root, 'pack', '--dry-run', '--json')) as [{ files: { path: string }[] }];
for (const { path } of files) cpSync(join(root, path), join(copy, path));
const { '.': _, './package.json': __, ...subpaths } = packageJson.exports;
const packed = [...packageJson.files, ...Object.keys(subpaths).map((name) => name.slice(2))];
writeFileSync(join(copy, 'package.json'), `${JSON.stringify({ ...packageJson, files: packed }, null, 2)}\n`);
for (const [name, found] of Object.entries(subpaths)) {
  const folder = join(copy, name);
  const main = typeof found === 'string' ? found : found.require.default;
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ main: `.${main}` }));
}

mkdirSync(destination, { recursive: true });
console.log(join(destination, npm(copy, 'pack', '--silent', '--pack-destination', destination).trim()));
rmSync(copy, { recursive: true });
